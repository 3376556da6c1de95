"""Conversation with the process that measures an op, and the meaning of an unexpected end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fictl.bench.messages import (
    CasesCounted,
    CaseStarted,
    GpuAfter,
    GpuBefore,
    RanksAfter,
    RoundTimed,
    RowMeasured,
    VersionsFound,
    Warned,
)
from fictl.bench.observer import BenchObserver
from fictl.bench.row import FAILED, Row
from fictl.case.contender import OURS
from fictl.child.listener import Listener
from fictl.errors import FictlError
from fictl.process import ending
from fictl.ranks.hung import RankHung


@dataclass
class Conversation:
    """Messages of one process. Rows are added as they arrive, and are kept if the process ends.

    first_case: called when the process has started and built the op.
    """

    op: str
    observer: BenchObserver
    first_case: Callable[[], object] = lambda: None
    rows: list[Row] = field(default_factory=list)
    versions: VersionsFound | None = None
    before: GpuBefore | None = None
    after: GpuAfter | None = None
    ranks: RanksAfter | None = None
    why_hung: str = ""
    warnings: list[str] = field(default_factory=list)
    _count: int = 0
    _begun: list[CaseStarted] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.listener = Listener(
            {
                CasesCounted: self._on_cases,
                CaseStarted: self._on_case,
                RoundTimed: lambda message: self.observer.round(message.number),
                RowMeasured: lambda message: self._add(message.row),
                Warned: lambda message: self.warnings.append(message.text),
                VersionsFound: self._on_versions,
                GpuBefore: self._on_before,
                GpuAfter: self._on_after,
                RanksAfter: self._on_ranks,
                RankHung: self._on_hung,
            },
            self.observer.line,
        )

    def closed(self, code: int, of_rank: str = "") -> None:
        """Handle the end of the process; raise an error that it reported.

        of_rank: how one of its ranks ended before the others.
        """
        if self.listener.error is not None and not of_rank:
            raise self.listener.error
        if not self.listener.done:
            parts = (self.why_hung, of_rank and self._with_last(of_rank))
            self.ended("; ".join(filter(None, parts)) or self._how(code))

    def _how(self, code: int) -> str:
        if not code:
            return "a fault on the GPU ended its process"
        return self._with_last(f"it ended its process with {ending(code)}")

    def _with_last(self, how: str) -> str:
        last = self.listener.last_words(1).strip()
        return how + (f": {last}" if last else "")

    def ended(self, why: str) -> None:
        """Handle an early end: the running case has failed, later ones were not run."""
        if not self._begun:
            raise FictlError(f"{self.op}: {why}", self.listener.last_words(1).strip())
        case = self._begun[-1]
        if not any(row.case == case.case and row.function == case.function for row in self.rows):
            self._add(
                Row(
                    self.op,
                    case.function,
                    OURS,
                    case.case,
                    case.sizes,
                    case.dtype,
                    case.passing,
                    status=FAILED,
                    note=why,
                )
            )
        left = self._count - len(self._begun)
        if left:
            self.warnings.append(f"{self.op}: {left} more cases were not run: {why}")

    def _on_cases(self, message: CasesCounted) -> None:
        self._count = message.count
        self.observer.cases(self.op, message.count)

    def _on_case(self, message: CaseStarted) -> None:
        if not self._begun:
            self.first_case()
        self._begun.append(message)
        self.observer.case(message.case)

    def _add(self, row: Row) -> None:
        self.rows.append(row)
        self.observer.row(row)

    def _on_versions(self, message: VersionsFound) -> None:
        self.versions = message

    def _on_before(self, message: GpuBefore) -> None:
        self.before = message

    def _on_ranks(self, message: RanksAfter) -> None:
        self.ranks = message

    def _on_hung(self, message: RankHung) -> None:
        self.why_hung = self.why_hung or message.why

    def _on_after(self, message: GpuAfter) -> None:
        self.after = message
