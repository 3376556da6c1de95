"""Board: each timed case compared with its previous time and its best time."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from fictl.bench.row import Row
from fictl.timing.verdict import Comparison, Verdict, compare_runs

_Key: TypeAlias = tuple[str, str, str, str]


@dataclass(frozen=True)
class Timing:
    """The samples of one case after one save. cycle: number of the run; at: its time."""

    samples: tuple[float, ...]
    cycle: int
    at: float

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    @property
    def clock(self) -> str:
        return time.strftime("%H:%M", time.localtime(self.at))


@dataclass(frozen=True)
class Standing:
    """Current state of a case. before: its previous timing; best: its best so far, including now;
    against: the comparison with `before`. is_faster_than_ever: faster by more than noise.
    """

    label: str
    now: Timing
    best: Timing
    before: Timing | None = None
    against: Comparison | None = None
    is_faster_than_ever: bool = False

    @property
    def verdict(self) -> Verdict | None:
        return self.against.verdict if self.against else None

    def to_dict(self) -> dict[str, Any]:
        return {
            "case": self.label,
            "median": self.now.median,
            "before": self.before.median if self.before else None,
            "ratio": self.against.ratio if self.against else None,
            "verdict": self.verdict.value if self.verdict else None,
            "best": self.best.median,
            "best_at": self.best.clock,
        }


@dataclass
class Board:
    """All cases timed since the start, by name."""

    _before: dict[_Key, Timing] = field(default_factory=dict)
    _best: dict[_Key, Timing] = field(default_factory=dict)

    def take(self, rows: Iterable[Row], cycle: int, at: float) -> tuple[Standing, ...]:
        """Take the timed rows of our sides, and return their standings; a save does not change
        baselines.
        """
        own = (row for row in rows if row.has_time and not row.is_baseline)
        return tuple(self._stand(row, Timing(row.samples, cycle, at)) for row in own)

    def best(self) -> dict[str, Timing]:
        """The best timing of each case, by its label."""
        return {_label(*key): timing for key, timing in self._best.items()}

    def _stand(self, row: Row, now: Timing) -> Standing:
        key = (row.case, row.step, row.side, row.function)
        before, best = self._before.get(key), self._best.get(key)
        self._before[key] = now
        if best is None or now.median < best.median:
            self._best[key] = now
        against = compare_runs(before.samples, now.samples) if before else None
        ever = best and compare_runs(best.samples, now.samples).verdict is Verdict.FASTER
        return Standing(_label(*key), now, self._best[key], before, against, bool(ever))


def _label(case: str, step: str, side: str, function: str) -> str:
    """Label of a case, as `scale-16-float32`; it includes the function's name."""
    return " ".join((case, *[word for word in (step, side) if word not in ("run", "fictl")]))
