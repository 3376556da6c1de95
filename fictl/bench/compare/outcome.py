"""Outcome of a comparison: a verdict on each common case, and the cases of one side only."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from fictl.timing.verdict import Comparison, Verdict


@dataclass(frozen=True)
class Compared:
    """One case of both sides: median seconds and their comparison.

    joules: energy of one call of each, if both were measured with --power.
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
    """A case that one side was not timed on; `fails` if that is the newer side's fault."""

    case: str
    who: str
    why: str
    fails: bool


@dataclass(frozen=True)
class CompareOutcome:
    """Result of a comparison.

    how: one run with both sides in the same rounds, or a run for each.
    where: the machine.
    """

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
        """Return 1 if the second side is slower or wrong, 3 if nothing was compared, else 0."""
        slower = Verdict.SLOWER.value in self.counts
        if slower or any(case.fails for case in self.untimed):
            return 1
        return 0 if self.cases else 3

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {
            "cases": [case.to_dict() for case in self.cases],
            "counts": self.counts,
        }
