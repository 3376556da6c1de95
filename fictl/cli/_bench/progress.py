"""Benchmarks as they go: a bar on a terminal, a line a case on a pipe; nothing when they are short."""

from __future__ import annotations

from types import TracebackType

from fictl.bench.observer import BenchObserver
from fictl.bench.row import SKIPPED, Row
from fictl.cli import console
from fictl.cli.late_bar import LateBar


class BenchProgress(BenchObserver):
    """Progress on stderr; with `quiet`, only the lines of an op's own process."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._count, self._done = 0, 0
        self._case = ""
        self._bar = LateBar()

    def __enter__(self) -> BenchProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.__exit__(kind, error, trace)

    def cases(self, op: str, count: int) -> None:
        self._count, self._done = count, -1

    def case(self, name: str) -> None:
        self._case = name
        self._done += 1
        self._update(name)

    def round(self, number: int) -> None:
        self._update(f"{self._case}  {number} rounds")

    def row(self, row: Row) -> None:
        shown = not (self._quiet or row.is_baseline or row.status == SKIPPED)
        if shown and self._bar.is_late and not self._bar.on_terminal:
            console.note(f"{row.op}  {row.case}  {row.status}  {self._done + 1}/{self._count}")

    def line(self, text: str) -> None:
        console.note(text)

    def _update(self, what: str) -> None:
        if not self._quiet:
            self._bar.update(self._done, self._count, what)
