"""A transfer as it goes: a bar with rate and time left on a terminal, one line on a pipe; on stderr."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from fictl.cli import console
from fictl.quantity import counted, spell_size


class TransferBar:
    """A context. `quiet` shows neither bar nor line, only notes. Threads may report at once."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> TransferBar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def planned(self, doing: str, files: int, size: int) -> None:
        """Begin: `doing` is a verb and an object, as in "pulling 2026.11 from file:///mnt"."""
        if self._quiet or not files:
            return
        screen = console.console(stderr=True)
        if not screen.is_interactive:
            console.note(f"{doing}: {counted(files, 'file')}, {spell_size(size)}")
            return
        from rich import progress

        columns = (
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.DownloadColumn(binary_units=True),
            progress.TransferSpeedColumn(),
            progress.TimeRemainingColumn(),
        )
        self._bar = progress.Progress(*columns, console=screen, transient=True)
        self._bar.start()
        self._task = self._bar.add_task(doing, total=size)

    def moved(self, size: int) -> None:
        """Count bytes that arrived."""
        if self._bar is not None:
            self._bar.advance(self._task, size)

    def note(self, text: str) -> None:
        console.note(text)
