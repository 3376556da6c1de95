"""Profiling cases by CUPTI: a process for each op, so that a fault of one leaves the others alone."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from fictl.child.message import received
from fictl.errors import FictlError, SetupError, UsageError
from fictl.process import TimedOut, stream
from fictl.profile.cupti.summary import Summary
from fictl.profile.outcome import Outcome
from fictl.profile.request import Request

_PROGRAM = "fictl.profile.cupti.worker.cases"
_ERRORS = {2: UsageError, 3: SetupError}


def profile(
    requests: Sequence[Request],
    trace: Path | None = None,
    say: Callable[[str], object] = lambda line: None,
) -> Iterator[Outcome]:
    """The outcome of each, in their order. The timeline of a case goes to `trace`, where one is
    named, else to the folder of its request. `say` is told what else the processes print.
    """
    for _, group in groupby(requests, key=lambda request: request.folder):
        left = list(group)
        while left:
            talk = _Talk(left, say)
            talk.hold(trace)
            yield from talk.outcomes
            left = left[len(talk.outcomes) :]


@dataclass
class _Talk:
    """With one process, which ends before its last case where a case takes it down; that one is
    tried once more, first in a process of its own.
    """

    requests: Sequence[Request]
    say: Callable[[str], object]
    outcomes: list[Outcome] = field(default_factory=list)
    _last: str = ""

    def hold(self, trace: Path | None) -> None:
        said = [_said(request, trace) for request in self.requests]
        argv = [sys.executable, "-m", _PROGRAM, json.dumps(said)]
        first = self.requests[0]
        timeout = first.options.timeout
        try:
            code = stream(argv, self._hear, env=first.environment(), timeout=timeout).code
        except TimedOut:
            self._failed(f"it did not end within {timeout:g} s, and was killed", "--timeout")
            return
        if not self.outcomes:
            self._failed(self._how(code), self._last)

    def _hear(self, line: str) -> None:
        message = received(line)
        if message is None:
            if line.strip():
                self._last = line.strip()
                self.say(line)
        elif message["kind"] == "summary":
            self._add(result=Summary.from_dict(message["summary"]))
        elif message["kind"] == "failed":
            kind = _ERRORS.get(message["code"], FictlError)
            self._add(error=kind(message["message"], message["hint"]))

    def _failed(self, why: str, hint: str) -> None:
        self._add(error=FictlError(why, hint))

    def _add(self, **found: Any) -> None:
        request = self.requests[len(self.outcomes)]
        self.outcomes.append(Outcome(str(request.folder), request.case, **found))

    def _how(self, code: int) -> str:
        if code < 0:
            return f"it ended its process with {signal.Signals(-code).name}"
        return f"it ended its process with exit code {code}"


def _said(request: Request, trace: Path | None) -> dict[str, Any]:
    return {
        "op": str(request.folder.op),
        "functions": sorted(request.functions),
        "options": request.options.to_dict(),
        "calls": request.calls,
        "trace": str(trace or request.file(".trace.json")),
    }
