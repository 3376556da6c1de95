"""One defect of an op, however many tests and accesses showed it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fictl.report.suppression import Suppression


@dataclass(frozen=True)
class DefectFinding:
    """One defect: the facts of its first report, and the number of tests that showed it."""

    facts: dict[str, Any]
    tests: int = 1
    suppressed: str = ""

    @property
    def text(self) -> str:
        text: str = self.facts["text"]
        return text

    def to_dict(self) -> dict[str, Any]:
        facts = {name: value for name, value in self.facts.items() if name != "text"}
        return {**facts, "tests": self.tests, "suppressed": self.suppressed or None}


def findings(
    rows: Iterable[dict[str, Any]], accepted: Sequence[Suppression]
) -> tuple[DefectFinding, ...]:
    """Merge reports into one finding for each kind and place, whatever the test and the thread."""
    at_site: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        at_site.setdefault(site(row), []).append(row)
    # A test that launches a kernel many times reports it as often, and so does each tool. A row
    # of a solution's run has no test.
    merged = (
        DefectFinding(same[0], len({row.get("test") for row in same})) for same in at_site.values()
    )
    return tuple(_judge(finding, accepted) for finding in merged)


def site(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Key that reports of one defect share: kind and place, or the kernel where no line is known."""
    other = row.get("other") or {}
    place = (row["file"], row["line"] or row.get("kernel"))
    return (row["kind"], *place, other.get("file"), other.get("line"))


def _judge(finding: DefectFinding, accepted: Sequence[Suppression]) -> DefectFinding:
    why = next((one.why for one in accepted if one.covers(finding.facts)), "")
    return replace(finding, suppressed=why)
