"""The process of one slot: reads jobs and workloads from stdin, writes evaluations to stdout.

Its own stdout is redirected to stderr, so that a reference that prints disturbs nothing.
"""

from __future__ import annotations

import json
import math
import os
import queue
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from fictl.dataset.lines import Lines
from fictl.dataset.previous import kind_of
from fictl.errors import FictlError
from fictl.judge.fault import JudgeFault, own_faults


def main() -> int:
    signal.signal(signal.SIGTERM, _terminated)
    answers = os.dup(1)
    os.dup2(2, 1)
    # Not inherited by sandboxed processes, which could otherwise forge answers.
    os.set_inheritable(answers, False)
    evaluator = _JudgeServer()
    try:
        for line in _lines(evaluator):
            answer = _answer(evaluator, json.loads(line))
            if answer is not None:
                _write(answers, json.dumps(answer).encode() + b"\n")
    except (KeyboardInterrupt, BrokenPipeError):
        return 130
    finally:
        evaluator.close()
    return 0


def _lines(evaluator: _JudgeServer) -> Iterator[bytes]:
    """Yield requests. The process that asks may end in the middle of an evaluation."""
    read: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> None:
        # Not sys.stdin: at the end of the interpreter its lock would still be held.
        lines = Lines(sys.stdin.fileno())
        while line := lines.next(math.inf):
            read.put(line)
        if evaluator.is_busy:
            os.kill(os.getpid(), signal.SIGTERM)
        read.put(b"")

    threading.Thread(target=listen, daemon=True).start()
    while line := read.get():
        yield line


def _write(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def _answer(evaluator: _JudgeServer, message: dict[str, Any]) -> dict[str, Any] | None:
    if message["kind"] == "job":
        evaluator.begin(message)
        return None
    try:
        with own_faults("judging"):
            if message["kind"] == "build":
                return {"kind": "evaluation", "evaluation": evaluator.build()}
            return {"kind": "evaluation", "evaluation": evaluator.evaluate(message["workload"])}
    except JudgeFault as error:
        return {"kind": "fault", "message": error.message, "hint": error.hint}
    except FictlError as error:
        problem = {"message": error.message, "hint": error.hint, "code": error.exit_code}
        return {"kind": "error", **problem}


class _JudgeServer:
    """Holds the judge of the current job; a reference is kept for the next jobs of its definition."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._judge: Any = None
        self._reference: Any = None
        self.is_busy = False

    def begin(self, message: dict[str, Any]) -> None:
        self._end_judge()
        self._message = message

    def build(self) -> dict[str, Any] | None:
        """Build the solution; return None, or the evaluation that says why it failed."""
        with self._busy():
            evaluation = self._opened().build()
        self._end_judge()
        return None if evaluation is None else _document(evaluation)

    def evaluate(self, workload: dict[str, Any]) -> dict[str, Any]:
        from fictl.trace import Workload

        with self._busy():
            evaluation = self._opened().evaluate(Workload.model_validate(workload))
        return _document(evaluation)

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
            self._judge = self._made()
        return self._judge

    def _made(self) -> Any:
        from fictl.judge.config import EvalConfig
        from fictl.judge.reference import Reference
        from fictl.judge.solution_judge import Judge
        from fictl.trace import Definition, Solution

        job, root = self._message, Path(self._message["root"])
        config = EvalConfig(**{**job["config"], "flags": tuple(job["config"]["flags"])})
        definition = Definition.model_validate(job["definition"])
        if self._reference is None or definition != self._reference.definition:
            self._end_reference()
            self._reference = Reference(definition, kind_of(config.device), root=root)
        return Judge(
            definition,
            Solution.model_validate(job["solution"]),
            config,
            root=root,
            scratch=Path(job["scratch"]) if job["scratch"] else None,
            isolated=job["isolated"],
            reference=self._reference,
        )

    def _end_reference(self) -> None:
        reference, self._reference = self._reference, None
        if reference is not None:
            reference.close()


def _document(evaluation: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(evaluation.model_dump_json())
    return document


def _terminated(number: int, frame: object) -> NoReturn:
    """End once: a second signal must not interrupt the closing of the judge."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
