"""Builds as they go: a bar on a terminal, plain lines on a pipe; always on stderr."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any

from fictl import settings
from fictl.cli import console
from fictl.jit.progress import Started, start_line


class ConsoleObserver:
    """Several builds may report at once, from threads of their own."""

    def __init__(self, verbose: bool = False) -> None:
        self.verbose = verbose or settings.JIT_VERBOSE.get()
        self._bar: Any = None
        self._tasks: dict[int, Any] = {}

    def __enter__(self) -> ConsoleObserver:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def started(self, build: Started) -> None:
        console.note(start_line(build))
        if not console.console(stderr=True).is_interactive:
            return
        if self._bar is None:
            from rich.progress import Progress

            self._bar = Progress(console=console.console(stderr=True), transient=True)
            self._bar.start()
        total = build.units - build.cached + 1
        self._tasks[threading.get_ident()] = self._bar.add_task(build.module, total=total)

    def advanced(self, done: int, total: int, what: str) -> None:
        task = self._tasks.get(threading.get_ident())
        if task is not None:
            self._bar.update(task, completed=done, total=total)

    def finished(self, module: str, seconds: float, why: str = "") -> None:
        task = self._tasks.pop(threading.get_ident(), None)
        if task is not None:
            self._bar.remove_task(task)

    def note(self, text: str) -> None:
        console.note(text)

    def command(self, line: str) -> None:
        if self.verbose:
            console.note(line)
