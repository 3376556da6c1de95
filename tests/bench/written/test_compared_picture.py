from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

from fictl.bench.compare.outcome import CompareOutcome
from fictl.bench.written.compared_page import compared_page
from fictl.bench.written.compared_picture import compared_picture
from fictl.plot.canvas import Dot, Line
from fictl.plot.svg import svg
from fictl.timing.verdict import Comparison, Verdict


def test_each_case_has_its_interval_and_its_ratio_on_one_scale(outcome: CompareOutcome) -> None:
    canvas = compared_picture(outcome)
    dots = [mark.x for mark in canvas.marks if isinstance(mark, Dot)]
    same, fast, slow, _unclear = dots
    assert fast < same < slow
    assert all(300 <= x <= 710 for x in dots)
    intervals = [mark for mark in canvas.marks if isinstance(mark, Line) and mark.width == 3]
    assert len(intervals) == 4
    assert all(0 <= x <= canvas.width for line in intervals for x, _ in line.points)


def test_names_are_escaped(outcome: CompareOutcome) -> None:
    ET.fromstring(svg(compared_picture(outcome)))


def test_the_page_has_every_case_and_no_name_becomes_markup(outcome: CompareOutcome) -> None:
    page = compared_page(outcome)
    for text in ("same-8", "slow-8", "only main has it", "SLOWER", "not compared"):
        assert text in page
    assert "<img" not in page
    assert "feature/&lt;b&gt;" in page


def test_nothing_and_ties_are_drawn_too(outcome: CompareOutcome) -> None:
    tie = replace(outcome.cases[0], comparison=Comparison(1.0, 1.0, 1.0, Verdict.SAME))
    for cases in ((), (tie,)):
        ET.fromstring(svg(compared_picture(replace(outcome, cases=cases))))
