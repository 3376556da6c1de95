"""A comparison as an interactive page: the picture, and a table to sort and filter."""

from __future__ import annotations

from collections.abc import Iterator

from fictl.bench.compare.outcome import Compared, CompareOutcome
from fictl.bench.written.compared_cells import absent, cells, energy, mark, summary
from fictl.bench.written.compared_picture import compared_picture
from fictl.plot.page.document import document, paragraphs, picture
from fictl.plot.page.table import PageCell, PageRow, filters, table
from fictl.plot.svg import svg_in_page


def compared_page(outcome: CompareOutcome) -> str:
    title = f"fictl compare · {outcome.a} → {outcome.b}"
    head = (
        f"{mark(outcome)} {summary(outcome)}",
        f"{outcome.where} · {outcome.how} · threshold {outcome.threshold:.1%}",
        *(f"note: {note}" for note in outcome.notes),
    )
    rows = [*_rows(outcome)]
    columns = (
        "case",
        outcome.a,
        outcome.b,
        "B / A",
        "95 % interval",
        "verdict",
        "energy",
        "remark",
    )
    drawing = picture(svg_in_page(compared_picture(outcome)), "verdict")
    return document(title, [*paragraphs(head), drawing, filters(rows), *table(columns, rows)])


def _rows(outcome: CompareOutcome) -> Iterator[PageRow]:
    for case in outcome.cases:
        yield PageRow([*_cells(case)], {"verdict": case.comparison.verdict.value})
    for name, why in absent(outcome):
        empty = (PageCell("") for _ in range(6))
        yield PageRow([PageCell(name), *empty, PageCell(why)], {"verdict": "not compared"})


def _cells(case: Compared) -> Iterator[PageCell]:
    comparison = case.comparison
    name, a, b, ratio, interval = cells(case)
    yield PageCell(name)
    yield PageCell(a, case.a)
    yield PageCell(b, case.b)
    yield PageCell(ratio, comparison.ratio)
    yield PageCell(interval, comparison.high - comparison.low)
    yield PageCell(comparison.verdict.value)
    yield PageCell(energy(case), case.joules and case.joules[1])
    yield PageCell(comparison.advice)
