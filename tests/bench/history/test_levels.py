"""Verdicts over commits."""

from __future__ import annotations

from fictl.bench.history.entry import HistoryEntry
from fictl.bench.history.levels import HistorySeries, series_of
from fictl.project.commit import Commit

OP = "tiny/elementwise/twice"


def at(day: int, report) -> HistoryEntry:
    return HistoryEntry.of(
        Commit(f"{day:07x}", f"2026-11-{day:02}T10:00:00+00:00", "step"), report, OP
    )


def verdicts(series: HistorySeries) -> list[str]:
    return [p.comparison.verdict.value if p.comparison else p.note for p in series.points]


def test_a_level_lasts_until_a_commit_is_faster_or_slower(make_result) -> None:
    times = (20.0, 20.02, 24.0, 24.01, 18.0)
    entries = [at(day, make_result(micros)) for day, micros in enumerate(times, 1)]
    (series,) = series_of(entries, 0.01)
    assert verdicts(series) == ["", "SAME", "SLOWER", "SAME", "FASTER"]
    assert [p.against.short if p.against else "" for p in series.points] == [
        "",
        "0000001",
        "0000001",
        "0000003",
        "0000003",
    ]


def test_small_losses_add_up(make_result) -> None:
    entries = [at(day, make_result(20.0 * 1.005**day)) for day in range(1, 12)]
    (series,) = series_of(entries, 0.01)
    assert "SLOWER" in verdicts(series)


def test_the_order_is_that_of_the_commits_and_the_last_entry_of_one_counts(make_result) -> None:
    entries = [at(2, make_result(30.0)), at(1, make_result(20.0)), at(2, make_result(20.0))]
    (series,) = series_of(entries, 0.01)
    assert [p.commit.short for p in series.points] == ["0000001", "0000002"]
    assert verdicts(series) == ["", "SAME"]


def test_what_was_measured_differently_is_not_compared(make_result) -> None:
    entries = [
        at(1, make_result(20.0)),
        at(2, make_result(30.0, timer="events")),
        at(3, make_result(30.0, timer="events")),
        at(4, make_result(0.0, status="wrong", samples=(), note="out differs")),
    ]
    (series,) = series_of(entries, 0.01)
    first, other, same, wrong = verdicts(series)
    assert (first, same, wrong) == ("", "SAME", "out differs")
    assert other.startswith("not compared: twice-8-int32 fictl timed by cupti")


def test_machines_are_apart(make_result) -> None:
    entries = [at(1, make_result(20.0)), at(2, make_result(30.0, sm_mhz=1200))]
    assert [verdicts(series) for series in series_of(entries, 0.01)] == [[""], [""]]
