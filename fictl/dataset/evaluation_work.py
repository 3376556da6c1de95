"""Evaluations at one place, as work of its station."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Protocol

from fictl.child.lost import Lost
from fictl.dataset.evaluator import Evaluator
from fictl.dataset.run_outcome import RunOutcome
from fictl.dataset.run_plan import EvaluationJob
from fictl.dataset.sound import why_unsound
from fictl.errors import FictlError, SetupError
from fictl.farm.place import Place
from fictl.farm.station import PutOff, Stopped, in_words
from fictl.farm.task_queue import Batch, Task, TaskQueue
from fictl.judge.fault import JudgeFault
from fictl.judge.hardware import UNKNOWN
from fictl.quantity import counted

if TYPE_CHECKING:
    from fictl.trace import TraceSet, Workload

_SAMPLE = "a sample is judged right there"


@dataclass(frozen=True)
class EvaluationTask:
    """A solution and one of its workloads."""

    job: EvaluationJob
    workload: Workload


Tasks = TaskQueue[EvaluationTask]


def batch_of(job: EvaluationJob, dataset: TraceSet) -> Batch[EvaluationTask]:
    works = (EvaluationTask(job, workload) for workload in job.workloads(dataset))
    return Batch(works, job.count, job.kind)


class Results(Protocol):
    """Receives what places find; called by several threads."""

    def outcome(
        self, job: EvaluationJob, workload: Workload, outcome: RunOutcome, place: str
    ) -> None: ...

    def not_done(self, why: str, count: int) -> None:
        """Evaluations of a solution are left out."""


class FaultThere(Lost):
    """The judge has failed at one place, as where its disk is full: another may do better."""


class EvaluationDoer:
    """Evaluates tasks at a place; gives a solution up that fails again and again in bad ways."""

    def __init__(
        self, place: Place, evaluator: Evaluator, tasks: Tasks, to: Results, device: str
    ) -> None:
        self._place, self._evaluator, self._tasks, self._to = place, evaluator, tasks, to
        self._device = device

    def prepare(self, waits: Callable[[], object]) -> None:
        self._evaluator.prepare(self._device, waits)

    def do(self, task: Task[EvaluationTask]) -> None:
        self._report(task, self._evaluated(task))

    def blame(self, task: Task[EvaluationTask], lost: Lost) -> None:
        if isinstance(lost, FaultThere):
            self._report(task, self._fault(task, lost))
            return
        task.work.job.strikes.lost += 1
        self._report(task, self._blamed(task, lost))

    def why_unsound(self, task: Task[EvaluationTask]) -> str:
        return why_unsound(self._evaluator, task.work.job.config)

    def stop(self) -> None:
        self._evaluator.stop()

    def close(self) -> None:
        self._evaluator.close()

    def _job_here(self, task: Task[EvaluationTask]) -> EvaluationJob:
        """Return the job; its build in advance is for one place only, which writes there."""
        job = task.work.job
        is_first = task.batch.first_place == self._place.name
        return job if job.scratch is None or is_first else replace(job, scratch=None)

    def _report(self, task: Task[EvaluationTask], outcome: RunOutcome) -> None:
        job, workload = task.work.job, task.work.workload
        self._to.outcome(job, workload, outcome, self._place.name)
        job.strikes.count(outcome)
        left = self._tasks.drop(task.batch) if job.strikes.are_too_many else 0
        if left:
            why = f"{job}: {job.strikes}; {counted(left, 'more workload')} left out"
            self._to.not_done(why, left)

    def _evaluated(self, task: Task[EvaluationTask]) -> RunOutcome:
        from fictl.trace.documents.fitting import require_fit

        job, workload = self._job_here(task), task.work.workload
        names = job.definition.name, job.solution.name, workload.uuid
        try:
            require_fit(job.definition, workload)
            evaluation = self._evaluator.evaluate(job, workload, bool(task.waits_for))
        except (Lost, PutOff, Stopped):
            raise
        except JudgeFault as fault:
            if self._tasks.places_for(task.batch.kind) > 1:
                raise FaultThere(fault.message, fault.hint) from None
            return self._fault(task, fault)
        except SetupError:
            raise  # As for every other solution.
        except FictlError as error:
            return RunOutcome(*names, error=in_words(error))
        return RunOutcome(*names, evaluation=evaluation)

    def _fault(self, task: Task[EvaluationTask], fault: SetupError) -> RunOutcome:
        job, uuid = task.work.job, task.work.workload.uuid
        names = job.definition.name, job.solution.name, uuid
        return RunOutcome(*names, error=in_words(fault), is_fault=True)

    def _blamed(self, task: Task[EvaluationTask], lost: Lost) -> RunOutcome:
        """The result of work that ends every process that gets it."""
        from fictl.trace import Environment, Evaluation, EvaluationStatus

        job, losses = task.work.job, task.losses
        evaluation = Evaluation(
            status=EvaluationStatus.RUNTIME_ERROR,
            environment=Environment(hardware=self._place.hardware or UNKNOWN),
            timestamp=datetime.now(timezone.utc).isoformat(),
            log=f"it was lost {len(losses)} times (at {', '.join(losses)}), and {_SAMPLE}: "
            + lost.message,
            fictl={"lost": [*losses]},
        )
        names = job.definition.name, job.solution.name, task.work.workload.uuid
        return RunOutcome(*names, evaluation=evaluation)
