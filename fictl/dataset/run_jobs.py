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

from fictl.dataset.builds import Builds
from fictl.dataset.evaluator import Evaluator, ProcessEvaluator, Stopped
from fictl.dataset.previous import DEVICE, HASH, kind_of
from fictl.dataset.run_observer import RunObserver
from fictl.dataset.run_options import RunOptions
from fictl.dataset.run_outcome import RunOutcome
from fictl.dataset.run_plan import EvaluationJob, RunPlan, plan
from fictl.dataset.slot import DeviceSlot, slots
from fictl.dataset.summary import Summary
from fictl.dataset.torn import told
from fictl.errors import FictlError, SetupError, UsageError
from fictl.judge.fault import JudgeFault
from fictl.quantity import counted

if TYPE_CHECKING:
    from fictl.trace import Evaluation, TraceSet, Workload

# A solution is given up after this many timeouts, or faults of the judge.
_MOST_TIMEOUTS = _MOST_FAULTS = 2
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
    planned = plan(dataset, options)
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
        self._builds = Builds(planned.jobs, options.jobs, self._not_built)
        self._stop = threading.Event()
        self._outcomes: list[RunOutcome] = []
        self._left_out = [*planned.left_out]
        self._problem: BaseException | None = None
        self._slots_left = 0

    def on(self, places: tuple[DeviceSlot, ...], make_evaluator: MakeEvaluator) -> Summary:
        start = time.monotonic()
        root = self._dataset.root
        compilers = [
            make_evaluator(root, DeviceSlot("compiler")) for _ in range(self._builds.workers)
        ]
        with self._builds.running(compilers):
            self._run([(slot, make_evaluator(root, slot)) for slot in places])
        problem = self._problem or self._builds.problem
        if problem is not None:
            raise problem
        return Summary(
            self._outcomes,
            self._planned.skipped,
            tuple(self._left_out),
            time.monotonic() - start,
            self._options.save,
            self._broken,
        )

    def _run(self, evaluators: list[tuple[DeviceSlot, Evaluator]]) -> None:
        threads = [
            threading.Thread(target=self._work, args=pair, name=f"slot {pair[0].name}", daemon=True)
            for pair in evaluators
        ]
        self._slots_left = len(threads)
        for thread in threads:
            thread.start()
        try:
            while self._slots_left:
                self._take()
        finally:
            # Also after Ctrl-C, and if a trace cannot be written.
            self._stop.set()
            self._builds.stop()
            for _, evaluator in evaluators:
                evaluator.stop()
            for thread in threads:
                thread.join()

    def _take(self) -> None:
        with suppress(queue.Empty):
            self._done.get(timeout=_TICK_SECONDS)()

    def _work(self, slot: DeviceSlot, evaluator: Evaluator) -> None:
        try:
            with slot.held(self._say, self._stop.is_set):
                for job in self._builds.jobs():
                    if self._stop.is_set():
                        break
                    self._judge(job, evaluator)
        except Stopped:
            pass
        except BaseException as error:
            self._problem = self._problem or error
            self._stop.set()
        finally:
            evaluator.close()
            self._done.put(self._slot_ended)

    def _slot_ended(self) -> None:
        self._slots_left -= 1

    def _not_built(self, job: EvaluationJob, failure: Evaluation | JudgeFault) -> None:
        """Record the failure for all workloads of the job, without using a slot."""
        for workload in job.workloads(self._dataset):
            if isinstance(failure, JudgeFault):
                outcome = _not_judged(job, workload, failure)
            else:
                outcome = RunOutcome(*_names(job, workload), evaluation=_marked(failure, job))
            self._done.put(partial(self._keep, job, workload, outcome))

    def _judge(self, job: EvaluationJob, evaluator: Evaluator) -> None:
        timeouts = faults = 0
        for position, workload in enumerate(job.workloads(self._dataset)):
            if self._stop.is_set():
                return
            outcome = self._outcome(job, workload, evaluator)
            self._done.put(partial(self._keep, job, workload, outcome))
            timeouts += outcome.status == "TIMEOUT"
            faults += outcome.is_fault
            left = job.count - position - 1
            if left and (timeouts >= _MOST_TIMEOUTS or faults >= _MOST_FAULTS):
                what = f"{faults} faults of the judge" if faults else f"{timeouts} timeouts"
                why = f"{job}: {what}; {counted(left, 'more workload')} left out"
                self._done.put(partial(self._leave_out, why))
                return

    def _outcome(self, job: EvaluationJob, workload: Workload, evaluator: Evaluator) -> RunOutcome:
        from fictl.trace.documents.fitting import require_fit

        try:
            require_fit(job.definition, workload)
            evaluation = evaluator.evaluate(job, workload)
        except Stopped:
            raise
        except JudgeFault as fault:
            return _not_judged(job, workload, fault)
        except SetupError:
            raise  # As for every other solution.
        except FictlError as error:
            return RunOutcome(*_names(job, workload), error=_said(error))
        return RunOutcome(*_names(job, workload), evaluation=_marked(evaluation, job))

    def _keep(self, job: EvaluationJob, workload: Workload, outcome: RunOutcome) -> None:
        from fictl.trace import Trace

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

    def _leave_out(self, why: str) -> None:
        self._left_out.append(why)
        self._observer.note(why)

    def _say(self, text: str) -> None:
        self._done.put(partial(self._observer.note, text))


def _names(job: EvaluationJob, workload: Workload) -> tuple[str, str, str]:
    return job.definition.name, job.solution.name, workload.uuid


def _not_judged(job: EvaluationJob, workload: Workload, fault: JudgeFault) -> RunOutcome:
    """Outcome of a fault. Nothing is saved, so that --resume runs the workload again."""
    return RunOutcome(*_names(job, workload), error=_said(fault), is_fault=True)


def _said(error: FictlError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message


def _marked(evaluation: Evaluation, job: EvaluationJob) -> Evaluation:
    """Add what --resume looks for: the solution's hash and the device."""
    marks = {HASH: job.solution.hash(), DEVICE: kind_of(job.config.device)}
    return evaluation.model_copy(update={"fictl": {**(evaluation.fictl or {}), **marks}})


def _without_log(outcome: RunOutcome) -> RunOutcome:
    """Drop the log, which may have megabytes: a run has very many outcomes."""
    if outcome.evaluation is None:
        return outcome
    return replace(outcome, evaluation=outcome.evaluation.model_copy(update={"log": ""}))
