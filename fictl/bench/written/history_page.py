"""Histories as an interactive page: a picture and a table for each case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from fictl.bench.history.levels import HistoryPoint, HistorySeries
from fictl.bench.written.history_cells import COLUMNS, cells
from fictl.bench.written.history_picture import history_picture
from fictl.plot.page.document import document, paragraphs, picture
from fictl.plot.page.table import PageCell, PageRow, filters, table
from fictl.plot.svg import svg_in_page


def history_page(series: Sequence[HistorySeries]) -> str:
    rows = [[_row(point) for point in reversed(one.points)] for one in series]
    parts = [filters(row for among in rows for row in among)]
    for one, among in zip(series, rows, strict=True):
        parts += _parts(one, among)
    return document("fictl history", parts)


def _parts(series: HistorySeries, rows: Sequence[PageRow]) -> Iterator[str]:
    yield f"<h2>{escape(series.case)}</h2>"
    yield from paragraphs([f"{series.op} · {series.machine}"])
    yield picture(svg_in_page(history_picture([series])), "verdict")
    yield from table(COLUMNS, rows)


def _row(point: HistoryPoint) -> PageRow:
    ratio = point.comparison.ratio if point.comparison else None
    values = (None, None, point.row.median, ratio)
    texts = cells(point)
    filled = [*values, *(None for _ in texts[len(values) :])]
    verdict = point.comparison.verdict.value if point.comparison else "not compared"
    page_cells = (PageCell(text, value) for text, value in zip(texts, filled, strict=True))
    return PageRow([*page_cells], {"verdict": verdict})
