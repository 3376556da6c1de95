"""Finding: one defect of an op, in however many tests and by however many accesses it was seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fictl.report.suppression import Suppression


@dataclass(frozen=True)
class Finding:
    """One defect: what was said, in which test it was first seen, and in how many."""

    facts: dict[str, Any]
    tests: int = 1
    suppressed: str = ""

    @property
    def text(self) -> str:
        said: str = self.facts["text"]
        return said

    def to_dict(self) -> dict[str, Any]:
        facts = {name: value for name, value in self.facts.items() if name != "text"}
        return {**facts, "tests": self.tests, "suppressed": self.suppressed or None}


def findings(
    rows: Iterable[dict[str, Any]], accepted: Sequence[Suppression]
) -> tuple[Finding, ...]:
    """One for each kind and place, whatever the test and the thread."""
    at_site: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        at_site.setdefault(site(row), []).append(row)
    # A test that launches a kernel many times reports it as often, and so does each tool. A row
    # of a solution's run has no test.
    found = (Finding(same[0], len({row.get("test") for row in same})) for same in at_site.values())
    return tuple(_judge(finding, accepted) for finding in found)


def site(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """What two reports of one defect have in common; without a line, the kernel stands for it."""
    other = row.get("other") or {}
    place = (row["file"], row["line"] or row.get("kernel"))
    return (row["kind"], *place, other.get("file"), other.get("line"))


def _judge(finding: Finding, accepted: Sequence[Suppression]) -> Finding:
    why = next((each.why for each in accepted if each.covers(finding.facts)), "")
    return replace(finding, suppressed=why)
