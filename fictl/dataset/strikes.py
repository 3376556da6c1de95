"""Strikes against one solution: what did not end in a verdict, or not in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fictl.dataset.run_outcome import RunOutcome

_MOST = 2


@dataclass
class Strikes:
    """Counts for one solution; after two of a kind its other workloads are left out."""

    timeouts: int = 0
    lost: int = 0
    faults: int = 0

    def count(self, outcome: RunOutcome) -> None:
        self.timeouts += outcome.status == "TIMEOUT"
        self.faults += outcome.is_fault

    @property
    def are_too_many(self) -> bool:
        return max(self.timeouts + self.lost, self.faults) >= _MOST

    def __str__(self) -> str:
        counts = {
            "timeouts": self.timeouts,
            "lost processes": self.lost,
            "faults of the judge": self.faults,
        }
        return ", ".join(f"{count} {what}" for what, count in counts.items() if count)
