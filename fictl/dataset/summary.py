"""Summary: all outcomes of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fictl.dataset.run_outcome import RunOutcome


@dataclass(frozen=True)
class Summary:
    """`left_out` explains which workloads and places were not used; `unreadable` which results
    were not counted; `undone` counts the evaluations for which no place was left; `spent` has the
    seconds of all evaluations by their part.
    """

    outcomes: Sequence[RunOutcome] = ()
    skipped: int = 0
    left_out: tuple[str, ...] = ()
    seconds: float = 0.0
    saved: bool = True
    unreadable: tuple[str, ...] = ()
    undone: int = 0
    spent: Mapping[str, float] = field(default_factory=dict)
    statuses: Counter[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "statuses", Counter(outcome.status for outcome in self.outcomes))

    @property
    def errors(self) -> list[RunOutcome]:
        return [outcome for outcome in self.outcomes if outcome.error]

    @property
    def faults(self) -> list[RunOutcome]:
        """Outcomes in which the judge or its place failed: --resume runs these again."""
        return [outcome for outcome in self.outcomes if outcome.is_fault]

    @property
    def all_passed(self) -> bool:
        return all(outcome.passed for outcome in self.outcomes)

    def to_dict(self) -> dict[str, Any]:
        return {
            "statuses": dict(self.statuses),
            "skipped": self.skipped,
            "undone": self.undone,
            "left_out": list(self.left_out),
            "unreadable": list(self.unreadable),
            "seconds": round(self.seconds, 3),
            "spent": {part: round(seconds, 3) for part, seconds in self.spent.items()},
            "saved": self.saved,
            "outcomes": [outcome.to_dict() for outcome in self.outcomes],
        }
