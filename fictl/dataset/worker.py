"""The process of one slot: reads jobs and workloads from stdin, writes evaluations to stdout.

Its own stdout is redirected to stderr, so that a reference that prints disturbs nothing.
"""

from __future__ import annotations

import json
import platform
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from fictl.child.message import Failed
from fictl.child.requests import Answers, Requests
from fictl.dataset.messages import (
    PROTOCOL,
    BuildSolution,
    Evaluated,
    EvaluateWorkload,
    Greeting,
    JobStarted,
    JudgeFailed,
    Ready,
)
from fictl.dataset.previous import kind_of
from fictl.dataset.slot import hardware_of
from fictl.errors import FictlError
from fictl.judge.fault import JudgeFault, own_faults
from fictl.version import VERSION


def main() -> int:
    signal.signal(signal.SIGTERM, _terminated)
    answers, evaluator = Answers(), _JudgeServer()
    kinds = (Greeting, JobStarted, BuildSolution, EvaluateWorkload)
    try:
        for request in Requests(kinds, lambda: evaluator.is_busy):
            if isinstance(request, Greeting):
                answers.send(_ready(request))
            elif isinstance(request, JobStarted):
                evaluator.begin(request)
            else:
                answers.send(_answer(evaluator, request))
    except (KeyboardInterrupt, BrokenPipeError):
        return 130
    finally:
        evaluator.close()
    return 0


def _ready(greeting: Greeting) -> Ready:
    hardware = hardware_of(greeting.device)[:1] if greeting.device else ()
    return Ready(PROTOCOL, VERSION, platform.python_version(), "".join(hardware))


def _answer(
    evaluator: _JudgeServer, request: BuildSolution | EvaluateWorkload
) -> Evaluated | JudgeFailed | Failed:
    try:
        with own_faults("judging"):
            if isinstance(request, BuildSolution):
                return Evaluated(evaluator.build())
            return Evaluated(evaluator.evaluate(request.workload))
    except JudgeFault as error:
        return JudgeFailed(error.message, error.hint)
    except FictlError as error:
        return Failed.of(error)


class _JudgeServer:
    """Holds the judge of the current job; a reference is kept for the next jobs of its
    definition.
    """

    def __init__(self) -> None:
        self._job: JobStarted | None = None
        self._judge: Any = None
        self._reference: Any = None
        self.is_busy = False

    def begin(self, job: JobStarted) -> None:
        self._end_judge()
        self._job = job

    def build(self) -> str | None:
        """Build the solution; return None on success."""
        with self._busy():
            evaluation = self._opened().build()
        self._end_judge()
        return None if evaluation is None else str(evaluation.model_dump_json())

    def evaluate(self, workload: str) -> str:
        from fictl.trace import Workload

        with self._busy():
            evaluation = self._opened().evaluate(Workload.model_validate(json.loads(workload)))
        return str(evaluation.model_dump_json())

    def close(self) -> None:
        self._end_judge()
        self._end_reference()

    def _end_judge(self) -> None:
        judge, self._judge = self._judge, None
        if judge is not None:
            judge.close()

    @contextmanager
    def _busy(self) -> Iterator[None]:
        self.is_busy = True
        try:
            yield
        finally:
            self.is_busy = False

    def _opened(self) -> Any:
        if self._judge is None:
            self._judge = self._new_judge()
        return self._judge

    def _new_judge(self) -> Any:
        from fictl.judge.reference import Reference
        from fictl.judge.solution_judge import Judge
        from fictl.trace import Definition, Solution

        job = self._job
        assert job is not None
        definition = Definition.model_validate(json.loads(job.definition))
        if self._reference is None or definition != self._reference.definition:
            self._end_reference()
            kind = kind_of(job.config.device)
            self._reference = Reference(definition, kind, root=job.root)
        return Judge(
            definition,
            Solution.model_validate(json.loads(job.solution)),
            job.config,
            root=job.root,
            scratch=job.scratch,
            isolated=job.isolated,
            reference=self._reference,
        )

    def _end_reference(self) -> None:
        reference, self._reference = self._reference, None
        if reference is not None:
            reference.close()


def _terminated(number: int, frame: object) -> NoReturn:
    """Terminate once: a second signal must not interrupt the closing of the judge."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
