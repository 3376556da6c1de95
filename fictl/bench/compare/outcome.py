"""Outcome: a verdict on every case that two things have in common, and what they have not."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from fictl.timing.verdict import Comparison, Verdict


@dataclass(frozen=True)
class Compared:
    """One case of both: the medians in seconds, and what tells them apart.

    joules: energy of one call of each, where both were measured with --power.
    """

    op: str
    case: str
    a: float
    b: float
    comparison: Comparison
    joules: tuple[float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        document = asdict(self.comparison) | {"verdict": self.comparison.verdict.value}
        energy = (
            dict(zip(("joules_a", "joules_b"), self.joules, strict=True)) if self.joules else {}
        )
        return {"op": self.op, "case": self.case, "a": self.a, "b": self.b, **document, **energy}


@dataclass(frozen=True)
class Untimed:
    """A case of which one of the two was not timed; `fails` if that is the newer one's fault."""

    case: str
    who: str
    why: str
    fails: bool


@dataclass(frozen=True)
class CompareOutcome:
    """`how` says whether one run has both, round by round, or each has its own; `where`, on what."""

    a: str
    b: str
    how: str
    where: str
    threshold: float
    cases: tuple[Compared, ...]
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()
    untimed: tuple[Untimed, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Count the cases of each verdict, in the order of the verdicts."""
        counts = Counter(case.comparison.verdict for case in self.cases)
        return {verdict.value: counts[verdict] for verdict in Verdict if counts[verdict]}

    @property
    def exit_code(self) -> int:
        """1 where the second is slower, or wrong; 3 where nothing could be compared."""
        slower = Verdict.SLOWER.value in self.counts
        if slower or any(case.fails for case in self.untimed):
            return 1
        return 0 if self.cases else 3

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {
            "cases": [case.to_dict() for case in self.cases],
            "counts": self.counts,
        }
