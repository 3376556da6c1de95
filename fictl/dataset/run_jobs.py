"""Runs the evaluation of a dataset: hands jobs to slots, and writes each result at once."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from fictl.child.lost import Lost
from fictl.dataset.builds import Builds
from fictl.dataset.evaluator import Evaluator, ProcessEvaluator, Stopped
from fictl.dataset.job_queue import JobQueue
from fictl.dataset.place import Place, in_words
from fictl.dataset.previous import DEVICE, HASH, kind_of
from fictl.dataset.run_observer import RunObserver
from fictl.dataset.run_options import RunOptions
from fictl.dataset.run_outcome import RunOutcome
from fictl.dataset.run_plan import EvaluationJob, RunPlan, plan
from fictl.dataset.slot import DeviceSlot, slots
from fictl.dataset.summary import Summary
from fictl.dataset.torn import told
from fictl.errors import FictlError, SetupError, UsageError
from fictl.gpu_lock.hold import GpuBusy
from fictl.judge.fault import JudgeFault
from fictl.judge.hardware import UNKNOWN
from fictl.quantity import counted

if TYPE_CHECKING:
    from fictl.trace import Evaluation, TraceSet, Workload

_TICK_SECONDS = 0.2

MakeEvaluator = Callable[[Path, DeviceSlot], Evaluator]


def run_dataset(
    root: Path,
    options: RunOptions = RunOptions(),  # noqa: B008 frozen
    observer: RunObserver | None = None,
    make_evaluator: MakeEvaluator | None = None,
    places: tuple[DeviceSlot, ...] | None = None,
) -> Summary:
    """Evaluate a dataset. A failing solution is an outcome; an error means nothing can be run.

    `make_evaluator` and `places` replace the evaluators and the slots; the default is the judge, on
    the GPUs.
    """
    from fictl.trace import TraceSet

    dataset = TraceSet.from_path(root)
    planned = plan(dataset, options, None if places is None else _known(places))
    if not (planned.total or planned.skipped or planned.left_out):
        raise UsageError(f"{root}: none of the chosen solutions has a workload", _WHAT)
    watching = observer or RunObserver()
    watching.planned(planned.total, len(planned.jobs), planned.skipped)
    if options.save and planned.jobs:
        _require_writable(root)
    broken = told(planned.unreadable, mend=options.save)
    for note in broken:
        watching.note(note)
    if not planned.jobs:
        return Summary((), planned.skipped, planned.left_out, saved=options.save, unreadable=broken)
    usable = slots(options.device, options.gpus) if places is None else places
    isolated = options.isolated or planned.is_isolated
    evaluator = make_evaluator or (lambda at, slot: ProcessEvaluator(at, slot, isolated))
    return _Run(dataset, planned, options, watching, broken).on(usable, evaluator)


def _known(places: tuple[DeviceSlot, ...]) -> frozenset[str]:
    """Return the names of the places' hardware; none if one of them is unknown."""
    names = frozenset(slot.hardware for slot in places)
    return frozenset() if "" in names else names


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
    """One thread for each slot; the thread that began the run writes and reports the outcomes."""

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
        self._done: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._outcomes: list[RunOutcome] = []
        self._left_out = [*planned.left_out]
        self._given_up = 0
        self._problem: BaseException | None = None
        self._slots_left = 0
        self._hardware = UNKNOWN

    def on(self, slots: tuple[DeviceSlot, ...], make_evaluator: MakeEvaluator) -> Summary:
        start = time.monotonic()
        root = self._dataset.root
        self._hardware = slots[0].hardware or UNKNOWN
        self._jobs = JobQueue(len(self._planned.jobs), [slot.name for slot in slots])
        builds = Builds(self._planned.jobs, self._options.jobs, self._jobs, self._not_built)
        compilers = [
            make_evaluator(root, DeviceSlot("compiler", runs=False)) for _ in range(builds.workers)
        ]
        with builds.running(compilers):
            self._run([self._place(slot, make_evaluator(root, slot)) for slot in slots])
        problem = self._problem or builds.problem
        if problem is not None:
            raise problem
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
        )

    def _place(self, slot: DeviceSlot, evaluator: Evaluator) -> Place:
        return Place(slot, evaluator, self._jobs, self._dataset, self)

    def _run(self, places: list[Place]) -> None:
        threads = [
            threading.Thread(
                target=self._work, args=(place,), name=f"slot {place.slot.name}", daemon=True
            )
            for place in places
        ]
        self._slots_left = len(threads)
        for thread in threads:
            thread.start()
        try:
            while self._slots_left:
                self._take()
            while not self._done.empty():
                self._take()
        finally:
            # Also after Ctrl-C, and if a trace cannot be written.
            self._jobs.close()
            for place in places:
                place.evaluator.stop()
            for thread in threads:
                thread.join()

    def _take(self) -> None:
        with suppress(queue.Empty):
            self._done.get(timeout=_TICK_SECONDS)()

    def _work(self, place: Place) -> None:
        try:
            waits = partial(self._waits, place.slot.name)
            with place.slot.held(waits, lambda: self._jobs.is_over, self._options.wait):
                place.work()
        except GpuBusy as busy:
            self.left(place.slot, busy.message)
            self._jobs.leave(place.slot.name)
        except Stopped:
            pass
        except BaseException as error:
            self._problem = self._problem or error
            self._jobs.close()
        finally:
            place.evaluator.close()
            self._done.put(self._slot_ended)

    def _waits(self, place: str, note: str) -> None:
        self._jobs.step_aside(place)
        self._say(note)

    def _slot_ended(self) -> None:
        self._slots_left -= 1

    def outcome(self, job: EvaluationJob, workload: Workload, outcome: RunOutcome) -> None:
        self._done.put(partial(self._keep, job, workload, outcome))

    def not_done(self, why: str, count: int) -> None:
        self._done.put(partial(self._leave_out, why, count))

    def left(self, slot: DeviceSlot, why: str) -> None:
        self._done.put(partial(self._leave_out, f"place {slot.name} left out: {why}", 0))

    def _not_built(self, job: EvaluationJob, failure: Evaluation | JudgeFault | Lost) -> None:
        """Record the failure for all workloads of the job, without using a slot."""
        for workload in job.workloads(self._dataset):
            names = job.definition.name, job.solution.name, workload.uuid
            if isinstance(failure, FictlError):
                outcome = RunOutcome(*names, error=in_words(failure), is_fault=True)
            else:
                outcome = RunOutcome(*names, evaluation=failure)
            self.outcome(job, workload, outcome)

    def _keep(self, job: EvaluationJob, workload: Workload, outcome: RunOutcome) -> None:
        from fictl.trace import Trace

        if outcome.evaluation is not None:
            marked = _marked(outcome.evaluation, job, self._hardware)
            outcome = replace(outcome, evaluation=marked)
        if outcome.evaluation is not None and self._options.save:
            trace = Trace(
                definition=job.definition.name,
                workload=workload,
                solution=job.solution.name,
                evaluation=outcome.evaluation,
            )
            self._dataset.add_traces([trace])
        self._outcomes.append(_without_log(outcome))
        self._observer.outcome(outcome, len(self._outcomes), self._planned.total)

    def _leave_out(self, why: str, count: int) -> None:
        self._given_up += count
        self._left_out.append(why)
        self._observer.note(why)

    def _say(self, text: str) -> None:
        self._done.put(partial(self._observer.note, text))


def _marked(evaluation: Evaluation, job: EvaluationJob, hardware: str) -> Evaluation:
    """Add what --resume looks for: the solution's hash, the device, the name of the hardware.

    What failed before it ran anywhere, as a build does, counts for the hardware of this run.
    """
    marks = {HASH: job.solution.hash(), DEVICE: kind_of(job.config.device)}
    environment = evaluation.environment
    if environment.hardware == UNKNOWN:
        environment = environment.model_copy(update={"hardware": hardware})
    facts = {**(evaluation.fictl or {}), **marks}
    return evaluation.model_copy(update={"fictl": facts, "environment": environment})


def _without_log(outcome: RunOutcome) -> RunOutcome:
    """Drop the log, which may have megabytes: a run has very many outcomes."""
    if outcome.evaluation is None:
        return outcome
    return replace(outcome, evaluation=outcome.evaluation.model_copy(update={"log": ""}))
