"""Evaluators of a run: normally a process for each slot, with torch, reference and judge.

The process that plans and writes loads none of these, so that their crashes do not end the run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from fictl.child.lost import Lost
from fictl.child.message import Failed
from fictl.dataset.messages import (
    BuildSolution,
    Evaluated,
    EvaluateWorkload,
    JobStarted,
    JudgeFailed,
)
from fictl.dataset.previous import kind_of
from fictl.dataset.worker_process import WorkerProcess, worker_command
from fictl.errors import FictlError
from fictl.judge.fault import JudgeFault, own_faults

if TYPE_CHECKING:
    from fictl.dataset.run_plan import EvaluationJob
    from fictl.dataset.slot import DeviceSlot
    from fictl.trace import Definition, Evaluation, Solution, Workload

# Added to the judge's own timeouts, for the start.
_SPARE_SECONDS = 120.0


class Evaluator(Protocol):
    """Evaluates one workload at a time. `stop` is called by other threads and raises Stopped.

    `build` returns None once the job's solution is built in its `scratch`. JudgeFault means that
    the judge has failed, Lost that the place has: the solution is neither right nor wrong.
    """

    def build(self, job: EvaluationJob) -> Evaluation | None: ...

    def evaluate(self, job: EvaluationJob, workload: Workload) -> Evaluation: ...

    def stop(self) -> None: ...

    def close(self) -> None: ...


class Stopped(FictlError):
    """The run was ended during this evaluation."""


class ProcessEvaluator:
    """Starts `python -m fictl.dataset.worker` when needed, and again after it has died."""

    def __init__(
        self,
        root: Path,
        slot: DeviceSlot,
        isolated: bool = False,
        argv: Sequence[str] | None = None,
    ) -> None:
        self._root, self._slot, self._isolated = root, slot, isolated
        self._argv = argv or worker_command()
        self._process: WorkerProcess | None = None
        self._job: EvaluationJob | None = None
        self._stopped = False

    def build(self, job: EvaluationJob) -> Evaluation | None:
        seconds = job.config.compile_timeout_seconds + _SPARE_SECONDS
        return self._ask(job, BuildSolution(), seconds)

    def evaluate(self, job: EvaluationJob, workload: Workload) -> Evaluation:
        config = job.config
        # Time for the build, the first call, the measurement, and the reference.
        seconds = 4 * config.timeout_seconds + 2 * config.compile_timeout_seconds + _SPARE_SECONDS
        request = EvaluateWorkload(_text(workload))
        evaluation = self._ask(job, request, seconds)
        assert evaluation is not None
        return evaluation

    def _ask(
        self, job: EvaluationJob, request: BuildSolution | EvaluateWorkload, seconds: float
    ) -> Evaluation | None:
        """Ask the worker; it is replaced after it died or hung, which says nothing of the job."""
        try:
            with own_faults("talking to its own process"):
                return self._answer(job, request, seconds)
        except (Lost, JudgeFault) as error:
            if not isinstance(error, _Reported):
                self._end()
            if self._stopped:
                raise Stopped("the run was stopped") from None
            raise

    def stop(self) -> None:
        self._stopped = True
        process = self._process
        if process is not None:
            process.interrupt()

    def close(self) -> None:
        if self._process is not None:
            self._process.hang_up()
            self._end()

    def _answer(
        self, job: EvaluationJob, request: BuildSolution | EvaluateWorkload, seconds: float
    ) -> Evaluation | None:
        from fictl.trace import Evaluation

        process = self._started(job)
        if job is not self._job:
            process.send(_job_started(job, self._root, self._isolated))
            self._job = job
        answer: Evaluated | JudgeFailed | Failed = process.ask(request, seconds)
        if isinstance(answer, JudgeFailed):
            raise _Reported(answer.message, answer.hint)
        if isinstance(answer, Failed):
            raise answer.error
        text = answer.evaluation
        return None if text is None else Evaluation.model_validate_json(text)

    def _started(self, job: EvaluationJob) -> WorkerProcess:
        if self._stopped:
            raise Stopped("the run was stopped")
        if self._process is not None and self._process.has_ended:
            self._end()  # It ended while nobody asked it anything.
        if self._process is None:
            # A process that only compiles needs no GPU.
            device = kind_of(job.config.device) if self._slot.runs else ""
            self._process, self._job = WorkerProcess(self._argv, self._slot.variables), None
            self._process.greet(device)
        return self._process

    def _end(self) -> None:
        """End the process and all its descendants."""
        process, self._process = self._process, None
        if process is not None:
            process.end()


class _Reported(JudgeFault):
    """A fault that the process itself reports; the process continues."""


def _job_started(job: EvaluationJob, root: Path, isolated: bool) -> JobStarted:
    return JobStarted(
        root,
        isolated,
        job.config,
        _text(job.definition),
        _text(job.solution),
        job.scratch,
    )


def _text(document: Definition | Solution | Workload) -> str:
    """JSON of a document; model_dump_json writes infinity as null."""
    return json.dumps(document.model_dump(mode="json"))
