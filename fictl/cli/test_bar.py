"""Tests as they go: a bar on a terminal once it takes a while; on a pipe pytest's lines are enough."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from fictl.cli import console

if TYPE_CHECKING:
    from fictl.testing.runner.journal import Journal

_SOON_SECONDS = 2.0


class TestBar:
    """Told by the threads that look after pytest, one at a time."""

    __test__ = False

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> TestBar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def told(self, journal: Journal) -> None:
        if self._bar is None and not self._begin():
            return
        running = next(iter(journal.running.values()), None)
        self._bar.update(
            self._task, completed=len(journal.outcomes), total=journal.total or None,
            description=running.test.rpartition("::")[2][:48] if running else "",
        )  # fmt: skip

    def _begin(self) -> bool:
        screen = console.console(stderr=True)
        late = time.monotonic() - self._start > _SOON_SECONDS
        if not (screen.is_interactive and late):
            return False
        from rich import progress

        counts = (progress.BarColumn(), progress.MofNCompleteColumn())
        words = progress.TextColumn("{task.description}", markup=False)
        columns = (*counts, progress.TimeRemainingColumn(), words)
        self._bar = progress.Progress(*columns, console=screen, transient=True)
        self._bar.start()
        self._task = self._bar.add_task("")
        return True
