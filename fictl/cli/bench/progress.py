"""Benchmarks as they go: a bar on a terminal, a line a case on a pipe; nothing when they are short."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from fictl.bench.observer import Observer
from fictl.bench.row import SKIPPED, Row
from fictl.cli import console

_SHORT_SECONDS = 2.0


class BenchProgress(Observer):
    """On stderr; `quiet` says only what the process of an op says of itself."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._start = time.monotonic()
        self._op, self._count, self._done = "", 0, 0
        self._case = ""
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> BenchProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def cases(self, op: str, count: int) -> None:
        self._op, self._count, self._done = op, count, -1

    def case(self, name: str) -> None:
        self._case = name
        self._done += 1
        self._update(name)

    def round(self, number: int) -> None:
        self._update(f"{self._case}  {number} rounds")

    def row(self, row: Row) -> None:
        shown = not (row.is_baseline or row.status == SKIPPED)
        if shown and self._is_long and not self._is_terminal:
            self._say(f"{row.op}  {row.case}  {row.status}  {self._done + 1}/{self._count}")

    def line(self, text: str) -> None:
        console.note(text)

    @property
    def _is_terminal(self) -> bool:
        return console.console(stderr=True).is_interactive

    @property
    def _is_long(self) -> bool:
        return time.monotonic() - self._start > _SHORT_SECONDS

    def _say(self, text: str) -> None:
        if not self._quiet:
            console.note(text)

    def _update(self, what: str) -> None:
        if self._quiet or not (self._is_terminal and self._is_long):
            return
        if self._bar is None:
            from rich.progress import Progress

            self._bar = Progress(console=console.console(stderr=True), transient=True)
            self._task = self._bar.add_task("")
            self._bar.start()
        self._bar.update(self._task, description=what, completed=self._done, total=self._count)
