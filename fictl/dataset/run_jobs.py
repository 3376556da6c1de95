"""Runs the evaluation of a dataset: hands workloads to places, and writes each result at once."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from fictl.child.lost import Lost
from fictl.dataset.builds import Builds
from fictl.dataset.durations import Durations, longest_first
from fictl.dataset.evaluation_work import EvaluationDoer, EvaluationTask, batch_of
from fictl.dataset.evaluator import Evaluator, ProcessEvaluator
from fictl.dataset.inputs import InputFiles
from fictl.dataset.previous import DEVICE, HASH, PLACE, SPENT, kind_of
from fictl.dataset.run_observer import RunObserver
from fictl.dataset.run_options import RunOptions
from fictl.dataset.run_outcome import RunOutcome
from fictl.dataset.run_places import RunPlaces, places_of_run
from fictl.dataset.run_plan import EvaluationJob, RunPlan, plan_kinds
from fictl.dataset.summary import Summary
from fictl.dataset.torn import told
from fictl.errors import FictlError, SetupError, UsageError
from fictl.farm.place import Place
from fictl.farm.pool import Pool
from fictl.farm.run_status import RunStatus
from fictl.farm.station import Station, in_words
from fictl.farm.task_queue import TaskQueue
from fictl.judge.fault import JudgeFault
from fictl.judge.hardware import UNKNOWN
from fictl.quantity import counted

if TYPE_CHECKING:
    from fictl.trace import Environment, Evaluation, TraceSet, Workload

MakeEvaluator = Callable[[Path, Place], Evaluator]
_COMPILER = Place("compiler", runs=False)


def run_dataset(
    root: Path,
    options: RunOptions = RunOptions(),  # noqa: B008 frozen
    observer: RunObserver | None = None,
    make_evaluator: MakeEvaluator | None = None,
    places: tuple[Place, ...] | None = None,
) -> Summary:
    """Evaluate a dataset. A failing solution is an outcome; an error means nothing can be run.

    `make_evaluator` and `places` replace the evaluators and the places; the default is the judge,
    on the GPUs of this machine or at the places of `options.on`.
    """
    from fictl.trace import TraceSet

    dataset = TraceSet.from_path(root)
    watching = observer or RunObserver()
    at = (
        None if places is None and not _needs_places(options) else _found(places, options, watching)
    )
    try:
        return _run(dataset, options, watching, make_evaluator, at)
    finally:
        if at is not None:
            at.close()


def planned_run(dataset: TraceSet, options: RunOptions, note: Callable[[str], object]) -> RunPlan:
    """Plan a run; the workers of other machines are started for it, as what they have decides."""
    at = places_of_run(options, note) if _needs_places(options) else None
    try:
        return plan_kinds(dataset, options, at)
    finally:
        if at is not None:
            at.close()


def _needs_places(options: RunOptions) -> bool:
    """Tell whether places decide what is to be done: else a run with nothing to do needs none."""
    return bool(options.on or options.hardware)


def _found(
    places: tuple[Place, ...] | None, options: RunOptions, observer: RunObserver
) -> RunPlaces:
    if places is None:
        return places_of_run(options, observer.note)
    return RunPlaces(places, options.hardware)


def _run(
    dataset: TraceSet,
    options: RunOptions,
    observer: RunObserver,
    make_evaluator: MakeEvaluator | None,
    at: RunPlaces | None,
) -> Summary:
    planned = plan_kinds(dataset, options, at)
    if not (planned.total or planned.skipped or planned.left_out):
        raise UsageError(f"{dataset.root}: none of the chosen solutions has a workload", _WHAT)
    observer.planned(planned.total, len(planned.jobs), planned.skipped)
    if options.save and planned.jobs:
        _require_writable(dataset.root)
    broken = told(planned.unreadable, mend=options.save)
    for note in broken:
        observer.note(note)
    if not planned.jobs:
        return Summary((), planned.skipped, planned.left_out, saved=options.save, unreadable=broken)
    at = at or places_of_run(options, observer.note)
    isolated = options.isolated or planned.is_isolated
    return _Run(dataset, planned, options, observer, broken).on(
        at, make_evaluator or _processes(at, options, observer, isolated)
    )


def _processes(
    at: RunPlaces, options: RunOptions, observer: RunObserver, isolated: bool
) -> MakeEvaluator:
    """Make evaluators that begin with the workers that were started already."""
    shared: dict[Path, InputFiles] = {}

    def make(root: Path, place: Place) -> Evaluator:
        open_place = at.open.pop(place.name, None)
        connection = open_place.connection if open_place is not None else None
        inputs = shared.setdefault(root, InputFiles(root))
        builds = at.builds_at(place, options.jobs) if place.runs else 1
        return ProcessEvaluator(
            root,
            place,
            isolated,
            options.wait,
            observer.note,
            connection,
            inputs,
            at.run,
            builds,
        )

    return make


_WHAT = "fictl dataset validate shows what a dataset has"


def _require_writable(root: Path) -> None:
    folder = root / "traces"
    with suppress(OSError):
        folder.mkdir(exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SetupError(
            f"{folder} cannot be written", "--no-save shows results and keeps none of them"
        )


class _Run:
    """The thread that began the run writes and reports the outcomes."""

    def __init__(
        self,
        dataset: TraceSet,
        planned: RunPlan,
        options: RunOptions,
        observer: RunObserver,
        broken: tuple[str, ...] = (),
    ) -> None:
        self._broken = broken
        self._dataset, self._planned = dataset, planned
        self._options, self._observer = options, observer
        self._outcomes: list[RunOutcome] = []
        self._left_out = [*planned.left_out]
        self._given_up = 0
        self._spent: Counter[str] = Counter()
        self._hardware: dict[str, str] = {}
        self._status = RunStatus(f"dataset run {dataset.root.name}", planned.total)

    def on(self, at: RunPlaces, make_evaluator: MakeEvaluator) -> Summary:
        start = time.monotonic()
        root, places = self._dataset.root, at.places
        jobs = self._longest_first(at)
        self._places = places
        self._hardware = {job.kind: self._of_kind(places, job.kind) for job in jobs}
        left: Counter[str] = Counter()
        for job in jobs:
            left[job.kind] += job.count
        self._tasks: TaskQueue[EvaluationTask] = TaskQueue(left, {p.name: p for p in places})
        self._pool = Pool(self._tasks, self._tick)
        builds = Builds(
            jobs, self._options.jobs, self._tasks, self._built, self._not_built, self._is_built
        )
        compilers = [make_evaluator(root, _COMPILER) for _ in range(builds.workers)]
        with builds.running(compilers), self._status:
            self._stations = [self._station(one, make_evaluator(root, one)) for one in places]
            self._pool.run(self._stations)
        if builds.problem is not None:
            raise builds.problem
        undone = self._planned.total - len(self._outcomes) - self._given_up
        if undone:
            self._leave_out(f"{counted(undone, 'evaluation')} not done: no place was left", 0)
        return Summary(
            self._outcomes,
            self._planned.skipped,
            tuple(self._left_out),
            time.monotonic() - start,
            self._options.save,
            self._broken,
            undone,
            dict(self._spent.most_common()),
        )

    def _longest_first(self, at: RunPlaces) -> list[EvaluationJob]:
        """Order the jobs of each kind of hardware by what they took there."""
        ordered: list[EvaluationJob] = []
        for kind in dict.fromkeys(job.kind for job in self._planned.jobs):
            known = Durations(self._dataset, self._options.device, at.hardware_of(kind))
            alike = [job for job in self._planned.jobs if job.kind == kind]
            ordered += longest_first(alike, known.expected)
        return ordered

    def _of_kind(self, places: tuple[Place, ...], kind: str) -> str:
        names = (place.hardware for place in places if not kind or place.is_a(kind))
        return next(names, "") or UNKNOWN

    def _station(self, place: Place, evaluator: Evaluator) -> Station[EvaluationTask]:
        doer = EvaluationDoer(place, evaluator, self._tasks, self, self._options.device)
        waits = partial(self._waits, place.name)
        held = place.held(waits, lambda: self._tasks.is_over, self._options.wait)
        return Station(place, doer, self._tasks, self._left, held)

    def _is_built(self, job: EvaluationJob) -> bool:
        """Tell whether to build in advance: for a place that sees this machine's files."""
        fitting = (place for place in self._places if not job.kind or place.is_a(job.kind))
        return job.is_compiled and any(place.is_here for place in fitting)

    def _built(self, job: EvaluationJob) -> None:
        self._tasks.add(batch_of(job, self._dataset))

    def _tick(self) -> None:
        busy = sum(station.is_busy for station in self._stations)
        left = len(self._tasks.place_names)
        self._observer.places(busy, left, len(self._places))
        self._status.update(len(self._outcomes), busy, left, len(self._places))

    def outcome(
        self, job: EvaluationJob, workload: Workload, outcome: RunOutcome, place: str
    ) -> None:
        self._pool.post(partial(self._keep, job, workload, outcome, place))

    def not_done(self, why: str, count: int) -> None:
        self._pool.post(partial(self._leave_out, why, count))

    def _left(self, place: Place, why: str) -> None:
        self._pool.post(partial(self._leave_out, f"place {place.name} left out: {why}", 0))

    def _not_built(self, job: EvaluationJob, failure: Evaluation | JudgeFault | Lost) -> None:
        """Record the failure for all workloads of the job, without using a place."""
        for workload in job.workloads(self._dataset):
            names = job.definition.name, job.solution.name, workload.uuid
            if isinstance(failure, FictlError):
                outcome = RunOutcome(*names, error=in_words(failure), is_fault=True)
            else:
                outcome = RunOutcome(*names, evaluation=failure)
            self.outcome(job, workload, outcome, "")
        self._tasks.end(job.kind, job.count)

    def _keep(
        self, job: EvaluationJob, workload: Workload, outcome: RunOutcome, place: str
    ) -> None:
        from fictl.trace import Trace

        if outcome.evaluation is not None:
            marked = _marked(outcome.evaluation, job, self._hardware[job.kind], place)
            outcome = replace(outcome, evaluation=marked)
            self._spent.update(_spent(marked))
        outcome = replace(outcome, place=place)
        if outcome.evaluation is not None and self._options.save:
            trace = Trace(
                definition=job.definition.name,
                workload=workload,
                solution=job.solution.name,
                evaluation=outcome.evaluation,
            )
            self._dataset.add_traces([trace])
        self._outcomes.append(_in_short(outcome))
        self._observer.outcome(outcome, len(self._outcomes), self._planned.total)

    def _leave_out(self, why: str, count: int) -> None:
        self._given_up += count
        self._left_out.append(why)
        self._observer.note(why)

    def _waits(self, place: str, text: str) -> None:
        self._tasks.step_aside(place)
        self._pool.post(partial(self._observer.note, text))


def _marked(evaluation: Evaluation, job: EvaluationJob, hardware: str, place: str) -> Evaluation:
    """Add what --resume looks for: the solution's hash, the device, the name of the hardware;
    and the place.

    What failed before it ran anywhere, as a build does, counts for the hardware of this run.
    """
    marks = {HASH: job.solution.hash(), DEVICE: kind_of(job.config.device)}
    marks |= {PLACE: place} if place else {}
    environment = evaluation.environment
    if environment.hardware == UNKNOWN:
        environment = environment.model_copy(update={"hardware": hardware})
    facts = {**(evaluation.fictl or {}), **marks}
    return evaluation.model_copy(update={"fictl": facts, "environment": environment})


def _spent(evaluation: Evaluation) -> dict[str, float]:
    """Return the seconds of each part; another machine's judge may be of another release."""
    spent = (evaluation.fictl or {}).get(SPENT)
    pairs = spent.items() if isinstance(spent, dict) else ()
    return {
        str(part): float(seconds) for part, seconds in pairs if isinstance(seconds, int | float)
    }


def _in_short(outcome: RunOutcome) -> RunOutcome:
    """Drop the log, which may have megabytes, and the facts: a run has very many outcomes."""
    evaluation = outcome.evaluation
    if evaluation is None:
        return outcome
    short = {"log": "", "fictl": None, "environment": _named(evaluation.environment.hardware)}
    return replace(outcome, evaluation=evaluation.model_copy(update=short))


@cache
def _named(hardware: str) -> Environment:
    """Return one environment for all results of a kind of hardware."""
    from fictl.trace import Environment

    return Environment(hardware=hardware)
