"""Benchmarks of ops, each in its own process, so that a hang or fault affects no other op."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from fictl import settings
from fictl.bench.conversation import Conversation
from fictl.bench.environment import environment
from fictl.bench.messages import BenchRequest, FileRequest, RanksRequest, RevisionsRequest
from fictl.bench.observer import BenchObserver
from fictl.bench.options import DEFAULTS, BenchOptions
from fictl.bench.result import BenchReport
from fictl.bench.row import Row
from fictl.case.selection import functions
from fictl.child.environment import unwatched
from fictl.child.program import Program
from fictl.errors import SetupError, UsageError
from fictl.gpu_lock.chosen import NO_GPUS, ChosenGpus
from fictl.process import TimedOut, TimeLimit
from fictl.project import Project, select
from fictl.project.commit import state_of
from fictl.ranks.gpus import require_gpus
from fictl.ranks.launched import Launched
from fictl.toolchain import require_gpu

# Limit until the first case: --timeout does not include imports and the build.
_START_SECONDS = 600.0


def bench(
    ops: Sequence[str],
    options: BenchOptions = DEFAULTS,
    observer: BenchObserver | None = None,
    chosen: ChosenGpus = NO_GPUS,
) -> BenchReport:
    """Benchmark the named ops, or every op of this project. All sides of a case are timed in the
    same rounds.

    A problem of one side is noted in its row; an error is raised for a wrong request.

    chosen: the GPUs of the ranks of a communication op.
    """
    folders = select(ops, [] if ops else [Project.at()])
    device = settings.DEVICE.get()
    kind = RanksRequest if options.gpus else BenchRequest
    if options.gpus:
        _require_ranks(options, device)
    requests = [(f, tuple(sorted(functions(f, ops)))) for f in folders]
    jobs = [
        Measurement(str(folder), kind(folder.op, names, device, options), chosen)
        for folder, names in requests
    ]
    report = _run(jobs, options, observer)
    sources = {project.name: state_of(project) for project in {f.project for f in folders}}
    return replace(report, environment=replace(report.environment, sources=sources))


def bench_file(
    path: Path,
    values: Mapping[str, str],
    options: BenchOptions = DEFAULTS,
    observer: BenchObserver | None = None,
) -> BenchReport:
    """Benchmark one .cu file; `values` are its tensors ('4096x4096:bfloat16') and scalars ('2.0').

    Missing values come from the file's comment `// bench: …`.
    """
    request = FileRequest(path.absolute(), dict(values), settings.DEVICE.get(), options)
    return _run([Measurement(path.name, request)], options, observer)


@dataclass(frozen=True)
class Measurement:
    """A request to measure one op in its own process; `op` is its name in messages."""

    op: str
    request: BenchRequest | RanksRequest | FileRequest | RevisionsRequest
    chosen: ChosenGpus = NO_GPUS

    @property
    def program(self) -> Program:
        variables = {**unwatched(self.request.device), **self.chosen.variables}
        return Program(_PROGRAMS[type(self.request)], self.request, variables)


_PROGRAMS: Mapping[type, str] = {
    BenchRequest: "fictl.bench.worker.op_worker",
    RanksRequest: "fictl.bench.worker.ranks.rank_worker",
    FileRequest: "fictl.bench.worker.file_worker",
    RevisionsRequest: "fictl.bench.compare.revision_worker",
}


def measure(jobs: Sequence[Measurement], observer: BenchObserver) -> BenchReport:
    """Run the measurements and return the rows of all that succeeded, possibly none."""
    return _report(_talks(jobs, observer), jobs)


def _run(
    jobs: Sequence[Measurement], options: BenchOptions, observer: BenchObserver | None
) -> BenchReport:
    talks = _talks(jobs, observer or BenchObserver())
    report = _report(talks, jobs)
    if not report.rows:
        noted = "; ".join(warning for talk in talks for warning in talk.warnings)
        raise UsageError(noted or "there is no case", "fictl bench --dry-run shows those there are")
    _require_baseline(report.rows, options)
    return report


def _report(talks: Sequence[Conversation], jobs: Sequence[Measurement]) -> BenchReport:
    rows = tuple(row for talk in talks for row in talk.rows)
    gpus = next((str(job.chosen) for job in jobs), "")
    return BenchReport(environment(settings.DEVICE.get(), talks, gpus), rows)


def _require_ranks(options: BenchOptions, device: str) -> None:
    """Refuse what has no meaning for several ranks, and too few GPUs for them."""
    if options.power:
        raise UsageError("--power counts the energy of one GPU, not of ranks", "leave it out")
    if options.timer not in ("auto", _RANKS_TIMER):
        raise UsageError(
            f"--timer {options.timer}: the ranks' calls are timed by events", "leave it out"
        )
    if device == "cuda":
        require_gpus(options.gpus)


_RANKS_TIMER = "events"


def _talks(jobs: Sequence[Measurement], observer: BenchObserver) -> list[Conversation]:
    if settings.DEVICE.get() == "cuda":
        require_gpu(
            "there is no GPU here",
            "--device emu runs on the emulated device, whose times say nothing of a GPU's",
        )
    elif any(job.request.options.power for job in jobs):
        raise UsageError("--power: the emulated device uses no power of a GPU", "leave it out")
    return [_talk(job, observer) for job in jobs]


def _talk(job: Measurement, observer: BenchObserver) -> Conversation:
    limit = TimeLimit(_START_SECONDS)
    timeout = job.request.options.timeout
    talk = Conversation(job.op, observer, lambda: limit.restart(timeout))
    program, ranks = job.program, job.request.options.gpus
    with TemporaryDirectory(prefix="fictl-bench-") as folder:
        launched = Launched(ranks, Path(folder) / "ranks.json") if ranks else None
        if launched is not None:
            program = program.under(launched.words, {})
        try:
            finished = program.listen(talk.listener, limit)
        except TimedOut:
            talk.ended(f"it did not end within {limit.seconds:g} s, and was killed")
        else:
            ended = launched.ended() if launched is not None else None
            talk.closed(finished.code, str(ended or ""))
    return talk


def _require_baseline(rows: Sequence[Row], options: BenchOptions) -> None:
    """Raise if no requested baseline could be timed: there is nothing to compare with."""
    others = [row for row in rows if row.is_baseline]
    ours = any(row.has_time and not row.is_baseline for row in rows)
    if options.baselines and ours and not any(row.has_time for row in others):
        why = dict.fromkeys(f"{row.side}: {row.note}" for row in others)
        raise SetupError(
            f"no baseline of {', '.join(options.baselines)} could be timed",
            "; ".join(why) or "bench.py of the op declares none of them",
        )
