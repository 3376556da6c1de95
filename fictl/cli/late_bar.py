"""A bar for what takes a while: on a terminal, on stderr, and only once it does."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from fictl.cli import console

LATE_SECONDS = 2.0


class LateBar:
    """A context; what is short shows nothing, and so does a pipe."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> LateBar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    @property
    def is_late(self) -> bool:
        return time.monotonic() - self._start > LATE_SECONDS

    @property
    def on_terminal(self) -> bool:
        return console.console(stderr=True).is_interactive

    def update(self, done: int, total: int | None, what: str) -> None:
        if self._bar is None:
            if not (self.on_terminal and self.is_late):
                return
            self._begin()
        self._bar.update(self._task, completed=done, total=total, description=what)

    def _begin(self) -> None:
        from rich import progress

        counts = (progress.BarColumn(), progress.MofNCompleteColumn())
        words = progress.TextColumn("{task.description}", markup=False)
        columns = (*counts, progress.TimeRemainingColumn(), words)
        screen = console.console(stderr=True)
        self._bar = progress.Progress(*columns, console=screen, transient=True)
        self._bar.start()
        self._task = self._bar.add_task("")
