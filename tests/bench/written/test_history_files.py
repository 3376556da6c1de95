"""Histories as files."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from fictl.bench.history.levels import HistoryPoint, HistorySeries
from fictl.bench.row import Row
from fictl.bench.written.history_cells import sparkline
from fictl.bench.written.history_files import formats_of, write_history
from fictl.project.commit import Commit
from fictl.timing.verdict import compare_runs


def _samples(micros: float) -> tuple[float, ...]:
    return tuple(micros * 1e-6 * (1 + 1e-3 * (at % 7)) for at in range(20))


@pytest.fixture
def series() -> HistorySeries:
    rows = [
        Row("p/f/op", "op", "fictl", "op-8", {}, "f16", samples=_samples(micros))
        for micros in (20.0, 30.0, 10.0)
    ]
    commits = [
        Commit(f"{at:07x}", f"2026-11-{at + 1:02}T10:00:00+00:00", "<b>|") for at in range(4)
    ]
    points = [HistoryPoint(commits[0], rows[0])]
    for at in (1, 2):
        comparison = compare_runs(rows[at - 1].samples, rows[at].samples)
        points.append(HistoryPoint(commits[at], rows[at], commits[at - 1], comparison))
    failed = Row("p/f/op", "op", "fictl", "op-8", {}, "f16", status="wrong")
    points.append(HistoryPoint(commits[3], failed, note="wrong"))
    return HistorySeries("p/f/op", "op-8", "NVIDIA H200 · 1980 MHz", tuple(points))


def written(series: HistorySeries, folder: Path, name: str) -> str:
    write_history([series], formats_of([folder / name], ""))
    return (folder / name).read_text()


def test_times_are_bars(series: HistorySeries) -> None:
    assert sparkline(series) == "▆█▃▁"


def test_markdown_has_the_newest_first_and_verdicts_stand_out(series, tmp_path: Path) -> None:
    text = written(series, tmp_path, "h.md")
    rows = [line for line in text.splitlines() if line.startswith("| 000")]
    assert [row.split()[1] for row in rows] == ["0000003", "0000002", "0000001", "0000000"]
    assert "**SLOWER**" in rows[2]
    assert "**FASTER**" in rows[1]
    assert "<b>" not in text


def test_csv_and_json_have_every_number(series, tmp_path: Path) -> None:
    written(series, tmp_path, "h.csv")
    with (tmp_path / "h.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["verdict"] for row in rows] == ["", "SLOWER", "FASTER", ""]
    document = json.loads(written(series, tmp_path, "h.json"))
    assert document["series"][0]["points"][1]["median"] == pytest.approx(30e-6, rel=0.01)


def test_the_page_has_a_picture_and_a_table(series, tmp_path: Path) -> None:
    text = written(series, tmp_path, "h.html")
    assert "Content-Security-Policy" in text
    assert text.count("<tr") == 5
    assert "<svg" in text
    assert "&lt;b&gt;|" in text


def test_the_picture_is_xml_with_a_name_for_each_commit(series, tmp_path: Path) -> None:
    text = written(series, tmp_path, "h.svg")
    ET.fromstring(text)
    assert "0000002" in text
    assert "1.50x" in text
