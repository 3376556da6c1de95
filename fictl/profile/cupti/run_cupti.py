"""Profile cases by CUPTI, in a process for each op, so that a fault in one does not
affect others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from fictl.child.listener import Listener
from fictl.child.program import Program
from fictl.errors import FictlError
from fictl.process import TimedOut, ending
from fictl.profile.cupti.messages import CaseFailed, CaseProfiled, CuptiRequest, TracedCase
from fictl.profile.cupti.summary import CuptiSummary
from fictl.profile.outcome import ProfileOutcome
from fictl.profile.request import ProfileRequest

_PROGRAM = "fictl.profile.cupti.worker.cases"


def profile(
    requests: Sequence[ProfileRequest],
    trace: Path | None = None,
    say: Callable[[str], object] = lambda line: None,
) -> Iterator[ProfileOutcome]:
    """Profile cases, and yield an outcome for each, in their order. The timeline of a case goes to
    `trace` if given, else to the folder of its request. `say` receives other output of the
    processes.
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
    """A conversation with one process. If a case kills the process, it ends early; that case is
    tried once more, as the first in a new process.
    """

    requests: Sequence[ProfileRequest]
    say: Callable[[str], object]
    outcomes: list[ProfileOutcome] = field(default_factory=list)

    def hold(self, trace: Path | None) -> None:
        listener = Listener(
            {CaseProfiled: self._on_profiled, CaseFailed: self._on_failed}, self.say
        )
        timeout = self.requests[0].options.timeout
        try:
            code = self._program(trace).listen(listener, timeout).code
        except TimedOut:
            why = f"it did not end within {timeout:g} s, and was killed"
            self._add(error=FictlError(why, "--timeout"))
            return
        if not self.outcomes:
            why = f"it ended its process with {ending(code)}"
            self._add(error=FictlError(why, listener.last_words(1).strip()))

    def _program(self, trace: Path | None) -> Program:
        cases = tuple(
            TracedCase(request.of_case, trace or request.file(".trace.json"))
            for request in self.requests
        )
        return Program(_PROGRAM, CuptiRequest(cases), self.requests[0].program.variables)

    def _on_profiled(self, message: CaseProfiled) -> None:
        self._add(result=message.summary)

    def _on_failed(self, message: CaseFailed) -> None:
        self._add(error=message.failure.error)

    def _add(self, result: CuptiSummary | None = None, error: FictlError | None = None) -> None:
        request = self.requests[len(self.outcomes)]
        outcome = ProfileOutcome(str(request.folder), request.case, result, error)
        self.outcomes.append(outcome)
