"""Who evaluates: in a real run, a process for each slot that has torch, the reference and the judge.

The process that plans and writes has none of them: what breaks there breaks no run.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from fictl.dataset.lines import Lines
from fictl.errors import FictlError, SetupError, UsageError
from fictl.judge.fault import JudgeFault, own_faults
from fictl.paths import same_packages
from fictl.process import ending

if TYPE_CHECKING:
    from fictl.dataset.run_plan import EvaluationJob
    from fictl.dataset.slot import Slot
    from fictl.trace import Evaluation, Workload

_ERRORS = {2: UsageError, 3: SetupError}
# Beyond what the judge itself allows: for starting.
_SPARE_SECONDS = 120.0
_PATIENCE = 5.0
_PROGRAM = ("-m", "fictl.dataset.worker")


class Evaluator(Protocol):
    """One at a time. `stop` is for other threads: what runs is ended, and Stopped is raised.

    `build` gives None where the job's solution is now built in its `scratch`. JudgeFault where the
    judge has failed: the solution is neither right nor wrong.
    """

    def build(self, job: EvaluationJob) -> Evaluation | None: ...

    def evaluate(self, job: EvaluationJob, workload: Workload) -> Evaluation: ...

    def stop(self) -> None: ...

    def close(self) -> None: ...


class Stopped(FictlError):
    """The run was ended while this was evaluated."""


class ProcessEvaluator:
    """`python -m fictl.dataset.worker`, started when it is needed, and again when it has died."""

    def __init__(self, root: Path, slot: Slot, isolated: bool = False) -> None:
        self._root, self._slot, self._isolated = root, slot, isolated
        self._child: subprocess.Popen[bytes] | None = None
        self._answers: Lines | None = None
        self._job: EvaluationJob | None = None
        self._stopped = False

    def build(self, job: EvaluationJob) -> Evaluation | None:
        seconds = job.config.compile_timeout_seconds + _SPARE_SECONDS
        return self._asked(job, {"kind": "build"}, seconds)

    def evaluate(self, job: EvaluationJob, workload: Workload) -> Evaluation:
        config = job.config
        # It is built, called for the first time and timed; its reference takes its time, too.
        seconds = 4 * config.timeout_seconds + 2 * config.compile_timeout_seconds + _SPARE_SECONDS
        asked = {"kind": "workload", "workload": workload.model_dump(mode="json")}
        made = self._asked(job, asked, seconds)
        assert made is not None
        return made

    def _asked(
        self, job: EvaluationJob, message: dict[str, Any], seconds: float
    ) -> Evaluation | None:
        """A process of this side that dies or hangs is replaced, and no solution is blamed."""
        try:
            with own_faults("talking to its own process"):
                return self._answer(job, message, seconds)
        except (_Gone, JudgeFault) as gone:
            how = "" if isinstance(gone, _Told) else self._end()
            if self._stopped:
                raise Stopped("the run was stopped") from None
            if isinstance(gone, JudgeFault):
                raise
            is_late = isinstance(gone, _Late)
            what = f"did not answer within {seconds:g} s" if is_late else f"ended with {how}"
            raise JudgeFault(
                f"the judge's own process {what}", "this is no verdict on the solution"
            ) from None

    def stop(self) -> None:
        self._stopped = True
        child = self._child
        if child is not None:
            _signal(child, signal.SIGTERM)

    def close(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        with suppress(OSError):
            _stdin(child).close()
        with suppress(subprocess.TimeoutExpired):
            child.wait(_PATIENCE)
        self._child = child
        self._end()

    def _answer(
        self, job: EvaluationJob, message: dict[str, Any], seconds: float
    ) -> Evaluation | None:
        from fictl.trace import Evaluation

        child = self._started()
        if job is not self._job:
            self._send(child, _said(job, self._root, self._isolated))
            self._job = job
        self._send(child, message)
        assert self._answers is not None
        line = self._answers.next(time.monotonic() + seconds)
        if line is None:
            raise _Late("it is late")
        if not line:
            raise _Gone("it has gone")
        answer = json.loads(line)
        if answer["kind"] == "fault":
            raise _Told(answer["message"], answer["hint"])
        if answer["kind"] == "error":
            raise _ERRORS.get(answer["code"], FictlError)(answer["message"], answer["hint"])
        made = answer["evaluation"]
        return None if made is None else Evaluation.model_validate_json(json.dumps(made))

    def _started(self) -> subprocess.Popen[bytes]:
        if self._stopped:
            raise Stopped("the run was stopped")
        if self._child is not None and self._child.poll() is not None:
            self._end()  # It ended while nobody asked it anything.
        if self._child is None:
            variables = {**os.environ, **same_packages(), **self._slot.variables}
            self._child = subprocess.Popen(
                [sys.executable, *_PROGRAM],
                env=variables,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            assert self._child.stdout is not None
            self._answers, self._job = Lines(self._child.stdout.fileno()), None
        return self._child

    def _send(self, child: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
        pipe = _stdin(child)
        try:
            pipe.write(json.dumps(message).encode() + b"\n")
            pipe.flush()
        except BrokenPipeError:
            raise _Gone("it has gone") from None

    def _end(self) -> str:
        """With all of its group; how it ended."""
        child, self._child = self._child, None
        if child is None:
            return ""
        if child.poll() is None:
            _signal(child, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                child.wait(_PATIENCE)
        _signal(child, signal.SIGKILL)
        child.wait()
        for pipe in (child.stdin, child.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        return ending(child.returncode)


class _Told(JudgeFault):
    """Its process says so itself, and goes on."""


class _Gone(FictlError):
    """Nothing more comes of it."""


class _Late(_Gone):
    """It did not answer in time."""


def _said(job: EvaluationJob, root: Path, isolated: bool) -> dict[str, Any]:
    return {
        "kind": "job",
        "root": str(root),
        "isolated": isolated,
        "config": asdict(job.config),
        "scratch": str(job.scratch) if job.scratch else "",
        "definition": job.definition.model_dump(mode="json"),
        "solution": job.solution.model_dump(mode="json"),
    }


def _stdin(child: subprocess.Popen[bytes]) -> IO[bytes]:
    assert child.stdin is not None
    return child.stdin


def _signal(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)
