"""Bar chart: one bar per side and case, scaled to the slowest side of the case."""

from __future__ import annotations

from collections.abc import Sequence

from fictl.bench.row import Row
from fictl.plot.canvas import COLOURS, Box, Canvas, Words

_WIDTH, _LABEL, _VALUE = 900.0, 300.0, 110.0
_BAR, _GAP, _TOP = 14.0, 8.0, 34.0


def bars(title: str, rows: Sequence[Row]) -> Canvas:
    cases: dict[str, list[Row]] = {}
    for row in rows:
        cases.setdefault(row.case, []).append(row)
    sides = list(dict.fromkeys(row.side for row in rows))
    canvas = Canvas(_WIDTH, _TOP + sum(len(among) * _BAR + _GAP for among in cases.values()) + _GAP)
    canvas.add(Words(10, 20, title, size=14))
    y = _TOP
    for case, among in cases.items():
        canvas.add(Words(_LABEL - 10, y + _BAR - 3, case, "end"))
        slowest = max(row.median or 0.0 for row in among)
        for row in among:
            colour = COLOURS[sides.index(row.side) % len(COLOURS)]
            _bar(canvas, y, row, slowest, colour)
            y += _BAR
        y += _GAP
    return canvas


def _bar(canvas: Canvas, y: float, row: Row, slowest: float, colour: str) -> None:
    median = row.median or 0.0
    length = (_WIDTH - _LABEL - _VALUE - 60) * median / slowest
    canvas.add(
        Box(_LABEL, y + 1, length, _BAR - 2, colour),
        Words(_LABEL + length + 6, y + _BAR - 3, f"{row.side} {median * 1e6:.4g} us", size=10),
    )
