"""Verdicts over commits: each time against the first of its level.

A level lasts until a commit is FASTER or SLOWER. Compared with the commit before, a loss of half a
percent each time would never show.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fictl.bench.compare.conditions import differences, where
from fictl.bench.compare.pairs import case_and_side
from fictl.bench.history.entry import HistoryEntry
from fictl.bench.result import BenchReport
from fictl.bench.row import Row
from fictl.project.commit import Commit
from fictl.timing.verdict import Comparison, Verdict, compare_runs


@dataclass(frozen=True)
class HistoryPoint:
    """The time of a case at a commit; `against` begins its level, `note` is why none is compared."""

    commit: Commit
    row: Row
    against: Commit | None = None
    comparison: Comparison | None = None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        low, high = self.row.interval
        verdict = self.comparison
        return {
            "commit": self.commit.sha,
            "time": self.commit.time,
            "subject": self.commit.subject,
            "status": self.row.status,
            "median": self.row.median,
            "low": low,
            "high": high,
            "against": self.against.sha if self.against else None,
            "ratio": verdict.ratio if verdict else None,
            "ratio_low": verdict.low if verdict else None,
            "ratio_high": verdict.high if verdict else None,
            "verdict": verdict.verdict.value if verdict else None,
            "note": self.note or (verdict.advice if verdict else ""),
        }


@dataclass(frozen=True)
class HistorySeries:
    """One case of an op on one machine, over the commits."""

    op: str
    case: str
    machine: str
    points: tuple[HistoryPoint, ...]

    def to_dict(self) -> dict[str, Any]:
        own = {"op": self.op, "case": self.case, "machine": self.machine}
        return {**own, "points": [point.to_dict() for point in self.points]}


def series_of(entries: Iterable[HistoryEntry], threshold: float) -> list[HistorySeries]:
    """Judge the cases of entries, which may be in any order; the last entry of a commit counts."""
    kept: dict[tuple[str, str, str], dict[str, tuple[HistoryEntry, Row]]] = {}
    for entry in entries:
        for row in entry.report.rows:
            key = (row.op, case_and_side(row), where(entry.report.environment))
            kept.setdefault(key, {})[entry.commit.sha] = (entry, row)
    return [
        HistorySeries(*key, tuple(_judged(_in_order(at_commit.values()), threshold)))
        for key, at_commit in kept.items()
    ]


def _in_order(measured: Iterable[tuple[HistoryEntry, Row]]) -> list[tuple[HistoryEntry, Row]]:
    return sorted(measured, key=lambda one: datetime.fromisoformat(one[0].commit.time))


def _judged(
    measured: Sequence[tuple[HistoryEntry, Row]], threshold: float
) -> Iterable[HistoryPoint]:
    first: tuple[HistoryEntry, Row] | None = None
    for entry, row in measured:
        if not row.samples:
            yield HistoryPoint(entry.commit, row, note=row.note or row.status)
            continue
        point = _against(first, entry, row, threshold)
        decided = point.comparison and point.comparison.verdict in _CHANGES
        if point.comparison is None or decided:
            first = (entry, row)
        yield point


_CHANGES = (Verdict.FASTER, Verdict.SLOWER)


def _against(
    first: tuple[HistoryEntry, Row] | None, entry: HistoryEntry, row: Row, threshold: float
) -> HistoryPoint:
    if first is None:
        return HistoryPoint(entry.commit, row)
    before, old = first
    other = next(differences(_only(before, old), _only(entry, row)), "")
    if other:
        return HistoryPoint(entry.commit, row, note=f"not compared: {other}")
    comparison = compare_runs(old.samples, row.samples, threshold)
    return HistoryPoint(entry.commit, row, before.commit, comparison)


def _only(entry: HistoryEntry, row: Row) -> BenchReport:
    return BenchReport(entry.report.environment, (row,))
