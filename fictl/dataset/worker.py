"""The process of one slot: jobs and workloads come on stdin, evaluations go to what was stdout.

stdout itself is stderr here: a reference that prints disturbs nobody.
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
    # The judged processes do not inherit it: they could answer for themselves.
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
    """Until there are no more: whoever asks may be gone in the middle of an evaluation, too."""
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
        said = {"message": error.message, "hint": error.hint, "code": error.exit_code}
        return {"kind": "error", **said}


class _JudgeServer:
    """The judge of the job that is on. What a reference computes is kept for one definition."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._judge: Any = None
        self._reference: Any = None
        self.is_busy = False

    def begin(self, message: dict[str, Any]) -> None:
        self._end_judge()
        self._message = message

    def build(self) -> dict[str, Any] | None:
        """None where it was built."""
        with self._busy():
            made = self._opened().build()
        self._end_judge()
        return None if made is None else _document(made)

    def evaluate(self, workload: dict[str, Any]) -> dict[str, Any]:
        from fictl.trace import Workload

        with self._busy():
            made = self._opened().evaluate(Workload.model_validate(workload))
        return _document(made)

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

        said, root = self._message, Path(self._message["root"])
        config = EvalConfig(**{**said["config"], "said": tuple(said["config"]["said"])})
        definition = Definition.model_validate(said["definition"])
        if self._reference is None or definition != self._reference.definition:
            self._end_reference()
            self._reference = Reference(definition, kind_of(config.device), root=root)
        return Judge(
            definition,
            Solution.model_validate(said["solution"]),
            config,
            root=root,
            scratch=Path(said["scratch"]) if said["scratch"] else None,
            isolated=said["isolated"],
            reference=self._reference,
        )

    def _end_reference(self) -> None:
        reference, self._reference = self._reference, None
        if reference is not None:
            reference.close()


def _document(made: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(made.model_dump_json())
    return document


def _terminated(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
