"""Steps in sequence, with a standby process for the next one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from fictl.watch.answer import Answer
from fictl.watch.step_process import Step, StepProcess


class Steps:
    """A context manager that ends all it started. Steps run in the folder that `folder` returns
    then.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._spare: StepProcess | None = None
        self._running: StepProcess | None = None

    def __enter__(self) -> Steps:
        self.prepare()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        if self._spare is not None:
            self._spare.stop()

    def prepare(self) -> None:
        """Start the next process at a time when half a second of CPU work disturbs no timing."""
        self._spare = self._spare or StepProcess()

    def start(self, step: Step, ended: Callable[[], object]) -> None:
        """Start a step. Another thread calls `ended`, unless the step is stopped first."""
        self._running, self._spare = self._spare or StepProcess(), None
        self._running.begin(step, self._folder, ended)

    def answer(self) -> Answer:
        """Answer of the ended step."""
        assert self._running is not None
        child, self._running = self._running, None
        return child.answer()

    def stop(self) -> None:
        """Stop the running step, if any."""
        child, self._running = self._running, None
        if child is not None:
            child.stop()
