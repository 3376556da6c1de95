"""Condition that ends timing: the medians are known well enough, or the time is up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fictl.timing.statistics import interval, median

_FEWEST, _PATIENCE = 6, 3


@dataclass(frozen=True)
class Stop:
    """Limits of a timing. It also ends at `max_rounds` or after `max_seconds`.

    stdrel: half the width of the median's 95 % interval, divided by the median.

    Fewer than 6 rounds decide nothing, so they get three times `max_seconds`.
    """

    stdrel: float = 0.003
    min_rounds: int = 10
    min_seconds: float = 0.05
    max_seconds: float = 2.0
    max_rounds: int | None = None

    def reached(self, sides: Iterable[Sequence[float]], elapsed: float) -> bool:
        rows = list(sides)
        rounds = min(len(row) for row in rows)
        if rounds == 0:
            return False
        late = elapsed >= self.max_seconds * (1 if rounds >= _FEWEST else _PATIENCE)
        if late or rounds == self.max_rounds:
            return True
        if elapsed < self.min_seconds or rounds < self.min_rounds:
            return False
        return all(_halfwidth(row) <= self.stdrel for row in rows)


def _halfwidth(seconds: Sequence[float]) -> float:
    low, high = interval(seconds)
    return (high - low) / 2 / median(seconds)
