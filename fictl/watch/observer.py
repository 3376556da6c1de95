"""WatchObserver: receives the progress of a watch, which the command line prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fictl.watch.history import Cycle, History
from fictl.watch.outcome import StepOutcome


class WatchObserver:
    """Ignores all events: the default."""

    def watching(self, files: Sequence[Path], polling: str) -> None:
        """The watch of these files begins; `polling` explains why they are polled, else ''."""

    def cycle(self, cycle: Cycle) -> None:
        """A run begins."""

    def step(self, name: str) -> None:
        """A step of the run begins."""

    def outcome(self, outcome: StepOutcome) -> None:
        """The step has ended."""

    def ended(self, cycle: Cycle, history: History) -> None:
        """The run is over, or was cancelled by a save, which starts the next one."""
