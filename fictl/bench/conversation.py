"""What the process of one op has said, and what its end means where it did not say that itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fictl.bench.observer import Observer
from fictl.bench.row import FAILED, Row
from fictl.case.contender import OURS
from fictl.child.message import received
from fictl.errors import FictlError, SetupError, UsageError
from fictl.process import ending

_ERRORS = {2: UsageError, 3: SetupError}


@dataclass
class Conversation:
    """`rows` come as they are measured: what was, stays when the process goes.

    `first_case` is called when the process has started and built what it measures.
    """

    op: str
    observer: Observer
    first_case: Callable[[], object] = lambda: None
    rows: list[Row] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    _count: int = 0
    _begun: list[dict[str, Any]] = field(default_factory=list)
    _error: FictlError | None = None
    _done: bool = False
    _last: str = ""

    def hear(self, line: str) -> None:
        message = received(line)
        if message is not None:
            getattr(self, f"_on_{message.pop('kind')}")(**message)
        elif line.strip():
            self._last = line.strip()
            self.observer.line(line)

    def closed(self, code: int) -> None:
        """The process has ended; an error that it reported is raised here."""
        if self._error is not None:
            raise self._error
        if not self._done:
            self.ended(self._how(code))

    def _how(self, code: int) -> str:
        if not code:
            return "a fault on the GPU ended its process"
        how = ending(code)
        return f"it ended its process with {how}" + (f": {self._last}" if self._last else "")

    def ended(self, why: str) -> None:
        """Too early: the case that was running has failed, those behind it were not run."""
        if not self._begun:
            raise FictlError(f"{self.op}: {why}", self._last)
        case = self._begun[-1]
        if not any(
            row.case == case["case"] and row.function == case["function"] for row in self.rows
        ):
            row = Row(self.op, side=OURS, status=FAILED, note=why, **case)
            self.rows.append(row)
            self.observer.row(row)
        left = self._count - len(self._begun)
        if left:
            self.warnings.append(f"{self.op}: {left} more cases were not run: {why}")

    def _on_cases(self, count: int) -> None:
        self._count = count
        self.observer.cases(self.op, count)

    def _on_case(self, **case: Any) -> None:
        if not self._begun:
            self.first_case()
        self._begun.append({**case, "passing": tuple(case["passing"])})
        self.observer.case(case["case"])

    def _on_round(self, number: int) -> None:
        self.observer.round(number)

    def _on_row(self, row: dict[str, Any]) -> None:
        self.rows.append(Row.from_dict(row))
        self.observer.row(self.rows[-1])

    def _on_note(self, text: str) -> None:
        self.warnings.append(text)

    def _on_facts(self, **facts: Any) -> None:
        self.facts.update(facts)

    def _on_error(self, message: str, hint: str, code: int) -> None:
        self._error = _ERRORS.get(code, FictlError)(message, hint)

    def _on_done(self) -> None:
        self._done = True
