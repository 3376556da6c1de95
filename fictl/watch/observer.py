"""WatchObserver: the progress of a watch, which the command line shows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fictl.watch.history import Cycle, History
from fictl.watch.outcome import StepOutcome


class WatchObserver:
    """Hears nothing of it: the default."""

    def watching(self, files: Sequence[Path], polling: str) -> None:
        """These, as soon as they are written; `polling` is why they are looked at instead."""

    def cycle(self, cycle: Cycle) -> None:
        """A run begins."""

    def step(self, name: str) -> None:
        """A step of it begins."""

    def outcome(self, outcome: StepOutcome) -> None:
        """It has ended."""

    def ended(self, cycle: Cycle, history: History) -> None:
        """The run is over, or was ended by a save, which is the next one."""
