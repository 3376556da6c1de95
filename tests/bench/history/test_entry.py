"""A line of a history: small, whole, and nothing of it believed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from fictl.bench.history.entry import HistoryEntry
from fictl.errors import UsageError
from fictl.project.commit import Commit

COMMIT = Commit("3f2a91c0" * 5, "2026-11-20T10:00:00+01:00", "faster: fewer registers")
OP = "tiny/elementwise/twice"


def entry(make_result) -> HistoryEntry:
    return HistoryEntry.of(COMMIT, make_result(20.0), OP)


def test_a_line_is_read_as_it_was_written(make_result) -> None:
    line = entry(make_result).to_line()
    assert line.count("\n") == 1
    assert HistoryEntry.from_line(line, "here") == entry(make_result)


def test_a_line_is_small_and_the_median_stays(make_result) -> None:
    full = make_result(20.0)
    made = HistoryEntry.of(COMMIT, full, OP)
    assert len(made.to_line()) < 2500
    assert len(made.report.rows[0].samples) == 50
    assert made.report.rows[0].median == pytest.approx(full.rows[0].median, rel=1e-3)


def test_rows_of_other_ops_and_of_baselines_are_left_out(make_result) -> None:
    report = make_result(20.0)
    others = (replace(report.rows[0], op="a/b/c"), replace(report.rows[0], is_baseline=True))
    made = HistoryEntry.of(COMMIT, replace(report, rows=(*report.rows, *others)), OP)
    assert [row.op for row in made.report.rows] == [OP]


def damaged(line: str, **changes: object) -> str:
    document = json.loads(line)
    for path, value in changes.items():
        *outer, last = path.split("__")
        part = document
        for name in outer:
            part = part[name]
        part[last] = value
    return json.dumps(document)


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": "fictl.bench/1"},
        {"commit__sha": "--output=x"},
        {"commit__sha": 7},
        {"commit__time": "yesterday"},
        {"commit__time": "2026-11-20T10:00:00"},
        {"commit": None},
        {"rows": [{}]},
        {"rows": None},
        {"environment__sources": 7},
    ],
)
def test_a_damaged_line_is_named_and_refused(make_result, changes) -> None:
    line = damaged(entry(make_result).to_line(), **changes)
    with pytest.raises(UsageError, match=r"^a.jsonl:3 is not an entry of a history"):
        HistoryEntry.from_line(line, "a.jsonl:3")


@pytest.mark.parametrize("line", ["", "{", "[]", "7", "[" * 100_000])
def test_what_is_no_document_is_refused(line: str) -> None:
    with pytest.raises(UsageError, match="is not an entry of a history"):
        HistoryEntry.from_line(line, "here")


def test_a_message_of_a_commit_drives_no_terminal(make_result) -> None:
    line = damaged(entry(make_result).to_line(), commit__subject="\x1b[2J" + "x" * 500)
    subject = HistoryEntry.from_line(line, "here").commit.subject
    assert "\x1b" not in subject
    assert len(subject) == 80
