"""History: the runs since the start of `fictl watch`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fictl.watch.board import Board
from fictl.watch.outcome import StepOutcome


@dataclass
class Cycle:
    """One run after the files `saved` were written at the time `at`; the first run covers all
    files.

    `cancelled` is the step that a later save ended.
    """

    number: int
    at: float
    saved: Sequence[Path] = ()
    outcomes: list[StepOutcome] = field(default_factory=list)
    cancelled: str = ""

    @property
    def failed(self) -> StepOutcome | None:
        return next((outcome for outcome in self.outcomes if outcome.problem), None)

    @property
    def exit_code(self) -> int:
        codes = [outcome.exit_code for outcome in self.outcomes]
        return 1 if 1 in codes else max(codes, default=0)

    def to_dict(self) -> dict[str, Any]:
        return {
            "cycle": self.number,
            "at": self.at,
            "saved": [str(path) for path in self.saved],
            "ok": not (self.cancelled or self.failed),
            "cancelled": self.cancelled,
            "steps": [outcome.to_dict() for outcome in self.outcomes],
        }


@dataclass
class History:
    """All cycles, and the best times in them."""

    cycles: list[Cycle] = field(default_factory=list)
    board: Board = field(default_factory=Board)

    @property
    def saves(self) -> int:
        return sum(bool(cycle.saved) for cycle in self.cycles)

    @property
    def builds(self) -> int:
        """Number of cycles in which a compiler ran or reported an error."""
        steps = (step for cycle in self.cycles for step in cycle.outcomes if step.step == "build")
        return sum(bool(step.problem or step.facts.get("compiled")) for step in steps)

    @property
    def failures(self) -> int:
        return sum(cycle.failed is not None for cycle in self.cycles)

    def to_dict(self) -> dict[str, Any]:
        best = self.board.best()
        return {
            "saves": self.saves,
            "builds": self.builds,
            "failures": self.failures,
            "best": {case: {"median": t.median, "at": t.clock} for case, t in best.items()},
            "cycles": [cycle.to_dict() for cycle in self.cycles],
        }
