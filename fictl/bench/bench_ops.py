"""Benchmarks of ops, each in its own process, so that a hang or fault affects no other op."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fictl import settings
from fictl.bench.conversation import Conversation
from fictl.bench.environment import environment
from fictl.bench.messages import BenchRequest, FileRequest, RevisionsRequest
from fictl.bench.observer import BenchObserver
from fictl.bench.options import DEFAULTS, BenchOptions
from fictl.bench.result import BenchReport
from fictl.bench.row import TIMED, Row
from fictl.case.selection import functions
from fictl.child.environment import unwatched
from fictl.child.program import Program
from fictl.errors import SetupError, UsageError
from fictl.process import TimedOut, TimeLimit
from fictl.project import Project, select
from fictl.toolchain import require_gpu

# Limit until the first case: --timeout does not include imports and the build.
_START_SECONDS = 600.0


def bench(
    ops: Sequence[str], options: BenchOptions = DEFAULTS, observer: BenchObserver | None = None
) -> BenchReport:
    """Benchmark the named ops, or every op of this project. All sides of a case are timed in the
    same rounds.

    A problem of one side is noted in its row; an error is raised for a wrong request.
    """
    folders = select(ops, [] if ops else [Project.at()])
    device = settings.DEVICE.get()
    requests = [(f, tuple(sorted(functions(f, ops)))) for f in folders]
    jobs = [
        Measurement(str(folder), BenchRequest(folder.op, names, device, options))
        for folder, names in requests
    ]
    return _run(jobs, options, observer)


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
    request: BenchRequest | FileRequest | RevisionsRequest

    @property
    def program(self) -> Program:
        variables = unwatched(self.request.device)
        return Program(_PROGRAMS[type(self.request)], self.request, variables)


_PROGRAMS: Mapping[type, str] = {
    BenchRequest: "fictl.bench.worker.op_worker",
    FileRequest: "fictl.bench.worker.file_worker",
    RevisionsRequest: "fictl.bench.compare.revision_worker",
}


def measure(jobs: Sequence[Measurement], observer: BenchObserver) -> BenchReport:
    """Run the measurements and return the rows of all that succeeded, possibly none."""
    return _report(_talks(jobs, observer))


def _run(
    jobs: Sequence[Measurement], options: BenchOptions, observer: BenchObserver | None
) -> BenchReport:
    talks = _talks(jobs, observer or BenchObserver())
    report = _report(talks)
    if not report.rows:
        noted = "; ".join(warning for talk in talks for warning in talk.warnings)
        raise UsageError(noted or "there is no case", "fictl bench --dry-run shows those there are")
    _require_baseline(report.rows, options)
    return report


def _report(talks: Sequence[Conversation]) -> BenchReport:
    rows = tuple(row for talk in talks for row in talk.rows)
    return BenchReport(environment(settings.DEVICE.get(), talks), rows)


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
    try:
        finished = job.program.listen(talk.listener, limit)
    except TimedOut:
        talk.ended(f"it did not end within {limit.seconds:g} s, and was killed")
    else:
        talk.closed(finished.code)
    return talk


def _require_baseline(rows: Sequence[Row], options: BenchOptions) -> None:
    """Raise if no requested baseline could be timed: there is nothing to compare with."""
    others = [row for row in rows if row.is_baseline]
    ours = any(row.status == TIMED and not row.is_baseline for row in rows)
    if options.baselines and ours and not any(row.status == TIMED for row in others):
        why = dict.fromkeys(f"{row.side}: {row.note}" for row in others)
        raise SetupError(
            f"no baseline of {', '.join(options.baselines)} could be timed",
            "; ".join(why) or "bench.py of the op declares none of them",
        )
