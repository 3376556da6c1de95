"""The work of one place: it judges jobs of a queue until there are none, or until it fails."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Protocol

from fictl.child.lost import Lost, NotStarted
from fictl.dataset.evaluator import Evaluator, Stopped
from fictl.dataset.job_queue import JobQueue
from fictl.dataset.run_outcome import RunOutcome
from fictl.dataset.slot import DeviceSlot
from fictl.dataset.sound import why_unsound
from fictl.errors import FictlError, SetupError
from fictl.judge.fault import JudgeFault
from fictl.judge.hardware import UNKNOWN
from fictl.quantity import counted

if TYPE_CHECKING:
    from fictl.dataset.run_plan import EvaluationJob
    from fictl.trace import TraceSet, Workload

# A workload that this many places lost, or as many processes of the only place, has a result.
_MOST_LOSSES = 3
_MOST_STARTS = 2
_PAUSE_SECONDS = 1.0
_SAMPLE = "a sample is judged right there"


class Results(Protocol):
    """Receives what places find; called by several threads."""

    def outcome(self, job: EvaluationJob, workload: Workload, outcome: RunOutcome) -> None: ...

    def not_done(self, why: str, count: int) -> None:
        """Evaluations of a solution are left out."""

    def left(self, slot: DeviceSlot, why: str) -> None:
        """The place is used no more."""


class Place:
    """A slot, and the evaluator that judges there."""

    def __init__(
        self, slot: DeviceSlot, evaluator: Evaluator, jobs: JobQueue, dataset: TraceSet, to: Results
    ) -> None:
        self.slot, self.evaluator = slot, evaluator
        self._jobs, self._dataset, self._to = jobs, dataset, to
        self._starts = self._losses = 0

    def work(self) -> None:
        """Judge jobs until none is left for this place."""
        self._jobs.enter(self.slot.name)
        while (job := self._jobs.take(self.slot.name)) is not None:
            if self._judge(job):
                self._jobs.end()

    def _judge(self, job: EvaluationJob) -> bool:
        """Judge what is left of a job; False if it was given back."""
        done, losses, strikes = set[str](), job.losses, job.strikes
        for workload in job.workloads(self._dataset):
            if self._jobs.is_closed:
                return True
            try:
                outcome = self._evaluated(job, workload)
                self._starts = self._losses = 0
            except NotStarted as lost:
                self._not_started(job.rest(frozenset(done), losses), lost)
                return False
            except Lost as lost:
                losses = (*losses, self.slot.name)
                if not self._is_to_blame(job.rest(frozenset(done), losses), lost):
                    return False
                outcome = self._blamed(job, workload, losses, lost)
                strikes.lost += 1
            self._to.outcome(job, workload, outcome)
            strikes.count(outcome)
            done.add(workload.uuid)
            losses = ()
            left = job.count - len(done)
            if left and strikes.are_too_many:
                why = f"{job}: {strikes}; {counted(left, 'more workload')} left out"
                self._to.not_done(why, left)
                return True
        return True

    def _is_to_blame(self, job: EvaluationJob, lost: Lost) -> bool:
        """Give a lost job back, unless other places, or processes, have lost it before.

        Neither a job nor a place is blamed before this place has judged a sample.
        """
        self._losses += 1
        places = min(_MOST_LOSSES, self._jobs.places)
        is_due = len(job.losses) >= _MOST_LOSSES and len({*job.losses}) >= places
        if is_due or self._losses >= _MOST_LOSSES:
            self._losses = 0
            problem = why_unsound(self.evaluator, job.config)
            if problem:
                self._jobs.give_back(job)
                self._leave(f"{in_words(lost)}; a sample is not judged there either: {problem}")
                return False
        if not is_due:
            self._jobs.give_back(job)
        return is_due

    def _not_started(self, job: EvaluationJob, lost: NotStarted) -> None:
        """Try again once, after a pause; then do without this place."""
        self._starts += 1
        self._jobs.give_back(job)
        if self._starts >= _MOST_STARTS:
            self._leave(in_words(lost))
        else:
            self._jobs.pause(_PAUSE_SECONDS)

    def _leave(self, why: str) -> None:
        self._to.left(self.slot, why)
        self._jobs.leave(self.slot.name)

    def _evaluated(self, job: EvaluationJob, workload: Workload) -> RunOutcome:
        from fictl.trace.documents.fitting import require_fit

        names = job.definition.name, job.solution.name, workload.uuid
        try:
            require_fit(job.definition, workload)
            evaluation = self.evaluator.evaluate(job, workload)
        except (Lost, Stopped):
            raise
        except JudgeFault as fault:
            return RunOutcome(*names, error=in_words(fault), is_fault=True)
        except SetupError:
            raise  # As for every other solution.
        except FictlError as error:
            return RunOutcome(*names, error=in_words(error))
        return RunOutcome(*names, evaluation=evaluation)

    def _blamed(
        self, job: EvaluationJob, workload: Workload, losses: tuple[str, ...], lost: Lost
    ) -> RunOutcome:
        """The result of work that ends every process that gets it."""
        from fictl.trace import Environment, Evaluation, EvaluationStatus

        evaluation = Evaluation(
            status=EvaluationStatus.RUNTIME_ERROR,
            environment=Environment(hardware=self.slot.hardware or UNKNOWN),
            timestamp=datetime.now(timezone.utc).isoformat(),
            log=f"it was lost {len(losses)} times (at {', '.join(losses)}), and {_SAMPLE}: "
            + lost.message,
            fictl={"lost": [*losses]},
        )
        names = job.definition.name, job.solution.name, workload.uuid
        return RunOutcome(*names, evaluation=evaluation)


def in_words(error: FictlError) -> str:
    return f"{error.message} ({error.hint})" if error.hint else error.message
