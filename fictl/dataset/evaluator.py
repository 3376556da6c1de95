"""Evaluators of a run: a process at each place, with torch, reference and judge.

The process that plans and writes loads none of these, so that their crashes do not end the run.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from fictl.child.lost import Lost
from fictl.child.message import Failed
from fictl.dataset.inputs import InputFiles
from fictl.dataset.previous import kind_of
from fictl.errors import FictlError, SetupError, shown
from fictl.farm.connection import Connection, Files
from fictl.farm.line import (
    BuildSolution,
    Deferred,
    Evaluated,
    EvaluateWorkload,
    HoldGpu,
    JobStarted,
    JudgeFailed,
)
from fictl.farm.opening import greeting_of
from fictl.farm.place import Place
from fictl.farm.station import Broken, PutOff, Stopped
from fictl.judge.fault import JudgeFault, own_faults

if TYPE_CHECKING:
    from fictl.dataset.run_plan import EvaluationJob
    from fictl.trace import Definition, Evaluation, Solution, Workload

# Added to the judge's own timeouts, for the start.
_SPARE_SECONDS = 120.0
_DAY_SECONDS = 86400.0


class Evaluator(Protocol):
    """Evaluates one workload at a time. `stop` is called by other threads and raises Stopped.

    `build` returns None once the job's solution is built in its `scratch`. JudgeFault means that
    the judge has failed, Lost that the place has: the solution is neither right nor wrong.
    """

    def prepare(self, device: str, waits: Callable[[], object]) -> None:
        """Wait for the place's GPU; `waits` is called if that takes a while."""

    def build(self, job: EvaluationJob) -> Evaluation | None: ...

    def evaluate(self, job: EvaluationJob, workload: Workload, waits: bool = True) -> Evaluation:
        """Evaluate; unless it waits, PutOff says which build the solution needs first."""

    def stop(self) -> None: ...

    def close(self) -> None: ...


class ProcessEvaluator:
    """Starts a place's worker when needed, and again after it has died.

    wait: seconds for which the worker of another machine waits for its GPU.
    connection: a worker that was greeted already. inputs: shared with other places.
    run: the run, of which all workers on one machine share what they build.
    builds: at most so many at once; 0 leaves it to the worker.
    """

    def __init__(
        self,
        root: Path | None,
        place: Place,
        isolated: bool = False,
        wait: float | None = None,
        note: Callable[[str], object] = lambda text: None,
        connection: Connection | None = None,
        inputs: InputFiles | None = None,
        run: str = "",
        builds: int = 0,
    ) -> None:
        self._root, self._place, self._isolated = root, place, isolated
        self._wait, self._note = wait, note
        self._run, self._builds = run, builds
        self._inputs = inputs or InputFiles(root or Path())
        self._connection = connection
        self._job: EvaluationJob | None = None
        self._stopped = False

    def prepare(self, device: str, waits: Callable[[], object]) -> None:
        """Have the worker lock its GPU, unless this process does."""
        if self._place.gpu is not None or kind_of(device) != "cuda":
            return
        try:
            answer = self._started(device).ask(HoldGpu(), _DAY_SECONDS, noted=waits)
        except Lost:
            self._end()
            if self._stopped:
                raise Stopped("the run was stopped") from None
            raise
        if isinstance(answer, Failed):
            raise answer.error

    def build(self, job: EvaluationJob) -> Evaluation | None:
        seconds = job.config.compile_timeout_seconds + _SPARE_SECONDS
        return self._ask(job, BuildSolution(), seconds, {})

    def evaluate(self, job: EvaluationJob, workload: Workload, waits: bool = True) -> Evaluation:
        config = job.config
        # Time for the build, the first call, the measurement, and the reference.
        seconds = 4 * config.timeout_seconds + 4 * config.compile_timeout_seconds + _SPARE_SECONDS
        named, files = ({}, {}) if self._place.is_here else self._inputs.of(workload)
        request = EvaluateWorkload(_text(workload), named, waits)
        evaluation = self._ask(job, request, seconds, files)
        assert evaluation is not None
        return evaluation

    def _ask(
        self,
        job: EvaluationJob,
        request: BuildSolution | EvaluateWorkload,
        seconds: float,
        files: Files,
    ) -> Evaluation | None:
        """Ask the worker; it is replaced after it died or hung, which says nothing of the job."""
        try:
            with own_faults("talking to its own process"):
                return self._answer(job, request, seconds, files)
        except (Lost, JudgeFault) as error:
            if not isinstance(error, _Reported):
                self._end()
            if self._stopped:
                raise Stopped("the run was stopped") from None
            raise

    def stop(self) -> None:
        self._stopped = True
        connection = self._connection
        if connection is not None:
            connection.interrupt()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.hang_up()
            self._end()

    def _answer(
        self,
        job: EvaluationJob,
        request: BuildSolution | EvaluateWorkload,
        seconds: float,
        files: Files,
    ) -> Evaluation | None:
        from fictl.trace import Evaluation

        connection = self._started(job.config.device, job.config.untrusted)
        if not job.is_at_work_as(self._job):
            connection.send(self._job_started(job))
            self._job = job
        answer = connection.ask(request, seconds, files)
        if isinstance(answer, Deferred):
            raise PutOff(answer.waits_for, answer.built)
        if isinstance(answer, JudgeFailed):
            raise _fault(answer)
        if isinstance(answer, Failed):
            raise self._error(answer)
        is_build = isinstance(request, BuildSolution)
        if not isinstance(answer, Evaluated) or (answer.evaluation is None and not is_build):
            raise Lost(f"its answer is {type(answer).__name__} without a result")
        if answer.evaluation is None:
            return None
        try:
            return Evaluation.model_validate_json(answer.evaluation)
        except ValueError as error:
            raise Lost(f"its result cannot be read: {_first_line(error)}") from None

    def _error(self, answer: Failed) -> FictlError:
        """Return the error. What another machine reports may be its own, as a setting there: the
        files of the dataset were looked at here.
        """
        is_its_own = not self._place.is_here and answer.code != SetupError.exit_code
        return _Reported(answer.message, answer.hint) if is_its_own else answer.error

    def _started(self, config_device: str, untrusted: bool = False) -> Connection:
        """Return the worker; one that gets what nobody trusts has said before that it has walls."""
        if self._stopped:
            raise Stopped("the run was stopped")
        if self._connection is not None and self._connection.has_ended:
            self._end()  # It ended while nobody asked it anything.
        if untrusted and not (self._place.is_here or self._is_walled_in()):
            self._end()
        if self._connection is None:
            # A process that only compiles needs no GPU.
            device = kind_of(config_device) if self._place.runs else ""
            self._connection = Connection(self._place, self._note)
            self._job = None
            if self._stopped:  # Meanwhile, when there was nothing to interrupt.
                raise Stopped("the run was stopped")
            greeting = greeting_of(self._place, device, self._wait, untrusted)
            self._connection.greet(replace(greeting, run=self._run, builds=self._builds))
        return self._connection

    def _is_walled_in(self) -> bool:
        return self._connection is not None and self._connection.is_walled_in

    def _end(self) -> None:
        """End the process and all its descendants."""
        connection, self._connection, self._job = self._connection, None, None
        if connection is not None:
            connection.end()

    def _job_started(self, job: EvaluationJob) -> JobStarted:
        return JobStarted(
            self._isolated,
            job.config,
            _text(job.definition),
            _text(job.solution),
            *((self._root, job.scratch) if self._place.is_here else ()),
        )


class _Reported(JudgeFault):
    """A fault that the process itself reports; the process continues."""


def _fault(answer: JudgeFailed) -> JudgeFault | Lost:
    if answer.is_sticky:
        return Broken(answer.message, answer.hint)
    return _Reported(answer.message, answer.hint)


def _first_line(error: ValueError) -> str:
    return shown(str(error).partition("\n")[0])


def _text(document: Definition | Solution | Workload) -> str:
    """JSON of a document; model_dump_json writes infinity as null."""
    return json.dumps(document.model_dump(mode="json"))
