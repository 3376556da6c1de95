"""Bar chart: one bar per side and case, all on one scale, with intervals; refused sides are named."""

from __future__ import annotations

from collections.abc import Sequence

from fictl.bench.plot.reading import facts_of, time_of
from fictl.bench.row import Row
from fictl.plot.canvas import COLOURS, INK, Box, Canvas, Line, Words

_WIDTH, _LABEL, _VALUE = 900.0, 300.0, 110.0
_BAR, _GAP, _TOP = 14.0, 8.0, 34.0
_ACROSS = _WIDTH - _LABEL - _VALUE - 60
_LONGEST = 60


def bars(title: str, rows: Sequence[Row]) -> Canvas:
    cases: dict[str, list[Row]] = {}
    for row in rows:
        cases.setdefault(row.case, []).append(row)
    sides = list(dict.fromkeys(row.side for row in rows))
    canvas = Canvas(_WIDTH, _TOP + sum(len(among) * _BAR + _GAP for among in cases.values()) + _GAP)
    canvas.add(Words(10, 20, title, size=14))
    slowest = max((row.interval[1] or 0.0 for row in rows), default=0.0) or 1.0
    y = _TOP
    for case, among in cases.items():
        canvas.add(Words(_LABEL - 10, y + _BAR - 3, case, "end"))
        for row in among:
            _bar(canvas, y, row, _ACROSS / slowest, COLOURS[sides.index(row.side) % len(COLOURS)])
            y += _BAR
        y += _GAP
    return canvas


def _bar(canvas: Canvas, y: float, row: Row, scale: float, colour: str) -> None:
    side, tip, middle = row.side, facts_of(row), y + _BAR / 2
    low, high = row.interval
    if row.median is None or low is None or high is None:
        why = f"{side} {time_of(row)}: {row.note}".removesuffix(": ")
        text = why if len(why) <= _LONGEST else f"{why[: _LONGEST - 1]}…"
        canvas.add(Words(_LABEL, y + _BAR - 3, text, size=10, series=side, tip=tip))
        return
    canvas.add(
        Box(_LABEL, y + 1, row.median * scale, _BAR - 2, colour, side, tip),
        Line(((_LABEL + low * scale, middle), (_LABEL + high * scale, middle)), INK, 1, side, tip),
        Words(
            _LABEL + high * scale + 6,
            y + _BAR - 3,
            f"{side} {row.median * 1e6:.4g} us",
            size=10,
            series=side,
        ),
    )
