"""Outcome of a comparison: a verdict on each common case, and the cases of one side only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from fictl.bench.compare.gate import DEFAULT_GATE, MISSING, NEW, SLOWER, UNCLEAR
from fictl.child.codec import from_json
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

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Compared:
        """Read what `to_dict` wrote; raise KeyError, TypeError or ValueError for anything else."""
        verdict, advice = Verdict(data["verdict"]), str(data["advice"])
        ratio, low, high, a, b = (float(data[name]) for name in ("ratio", "low", "high", "a", "b"))
        energy = (float(data["joules_a"]), float(data["joules_b"])) if "joules_a" in data else None
        comparison = Comparison(ratio, low, high, verdict, advice)
        return cls(str(data["op"]), str(data["case"]), a, b, comparison, energy)


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
    fail_on: words of `gate.WORDS`, for which the exit code is 1.
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
    fail_on: tuple[str, ...] = DEFAULT_GATE

    @property
    def counts(self) -> dict[str, int]:
        """Count the cases of each verdict, in the order of the verdicts."""
        counts = Counter(case.comparison.verdict for case in self.cases)
        return {verdict.value: counts[verdict] for verdict in Verdict if counts[verdict]}

    @property
    def wrong(self) -> int:
        """Count the cases that the newer side is wrong in or fails: always a failure."""
        return sum(case.fails for case in self.untimed)

    @property
    def doubts(self) -> dict[str, int]:
        """Count the cases that each word of --fail-on is about."""
        among = {
            SLOWER: self.counts.get(Verdict.SLOWER.value, 0),
            UNCLEAR: self.counts.get(Verdict.UNCLEAR.value, 0),
            MISSING: len(self.only_a) + len(self.untimed) - self.wrong,
            NEW: len(self.only_b),
        }
        return {word: count for word, count in among.items() if count}

    @property
    def failed(self) -> dict[str, int]:
        """Count the cases for which it fails, by reason."""
        wrong = {"wrong": self.wrong} if self.wrong else {}
        return {**wrong, **{w: count for w, count in self.doubts.items() if w in self.fail_on}}

    @property
    def unsettled(self) -> dict[str, int]:
        """Count the cases that are slower or not known, and for which it does not fail."""
        ignored = (word for word in self.doubts if word not in (*self.fail_on, NEW))
        return {word: self.doubts[word] for word in ignored}

    @property
    def exit_code(self) -> int:
        """Return 1 if it fails, 3 if nothing was compared, else 0."""
        if self.failed:
            return 1
        return 0 if self.cases else 3

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {
            "cases": [case.to_dict() for case in self.cases],
            "counts": self.counts,
            "failed": self.failed,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CompareOutcome:
        """Read what `to_dict` wrote; raise KeyError, TypeError or ValueError for anything else."""
        return cls(
            str(data["a"]),
            str(data["b"]),
            str(data["how"]),
            str(data["where"]),
            float(data["threshold"]),
            tuple(map(Compared.from_dict, data["cases"])),
            tuple(map(str, data["only_a"])),
            tuple(map(str, data["only_b"])),
            tuple(from_json(Untimed, one) for one in data["untimed"]),
            tuple(map(str, data["notes"])),
            tuple(map(str, data.get("fail_on", DEFAULT_GATE))),
        )

    def with_more(self, other: CompareOutcome) -> CompareOutcome:
        """Add what another one compared on the same machine in the same way."""
        return replace(
            self,
            cases=self.cases + other.cases,
            only_a=self.only_a + other.only_a,
            only_b=self.only_b + other.only_b,
            untimed=self.untimed + other.untimed,
            notes=(*dict.fromkeys(self.notes + other.notes),),
        )
