"""A history as a picture: times over commits, with their intervals, coloured by verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from fictl.bench.history.levels import HistoryPoint, HistorySeries
from fictl.bench.written.compared_picture import VERDICT_COLOURS
from fictl.plot.canvas import COLOURS, FAINT, Canvas, Dot, Line, Words, stacked

_WIDTH, _HEIGHT = 900.0, 240.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 80.0, 110.0, 36.0, 44.0
# More names of commits than this overlap.
_MOST_NAMES = 12
_MARKS = 4


def history_picture(series: Sequence[HistorySeries]) -> Canvas:
    return stacked([_drawn(one) for one in series])


def _drawn(series: HistorySeries) -> Canvas:
    canvas = Canvas(_WIDTH, _HEIGHT)
    canvas.add(Words(10, 20, f"{series.case} · {series.machine}", size=14))
    timed = [(at, point) for at, point in enumerate(series.points) if point.row.median]
    if not timed:
        return canvas
    place = _Place([point for _, point in timed], len(series.points))
    for value in place.marks():
        ends = ((_LEFT, place.y(value)), (_WIDTH - _RIGHT, place.y(value)))
        canvas.add(
            Line(ends, FAINT), Words(_LEFT - 6, ends[0][1] + 4, f"{value * 1e6:.4g} us", "end", 10)
        )
    line = tuple((place.x(at), place.y(point.row.median or 0.0)) for at, point in timed)
    canvas.add(Line(line, FAINT, 2))
    step = -(-len(series.points) // _MOST_NAMES)
    for at, point in timed:
        _add_point(canvas, place.x(at), place, point)
    for at in range(0, len(series.points), step):
        name = series.points[at].commit.short
        canvas.add(Words(place.x(at), _HEIGHT - _BOTTOM + 18, name, "middle", 10))
    return canvas


class _Place:
    """Coordinates of commits and seconds; the times begin at 0, so that a tenth looks like one."""

    def __init__(self, timed: Sequence[HistoryPoint], count: int) -> None:
        self._step = _round(1.05 * max(point.row.interval[1] or 0.0 for point in timed) / _MARKS)
        self._most = self._step * _MARKS
        self._count = max(1, count - 1)

    def x(self, at: int) -> float:
        return _LEFT + 20 + (_WIDTH - _LEFT - _RIGHT - 40) * at / self._count

    def y(self, seconds: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * seconds / self._most

    def marks(self) -> Iterator[float]:
        return (self._step * at for at in range(_MARKS + 1))


def _round(step: float) -> float:
    """Return the next number above that begins with 1, 2, 2.5 or 5, and has no more digits."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(power * first for first in (1, 2, 2.5, 5, 10) if power * first >= step)


def _add_point(canvas: Canvas, x: float, place: _Place, point: HistoryPoint) -> None:
    low, high = point.row.interval
    verdict = point.comparison.verdict if point.comparison else None
    colour = VERDICT_COLOURS[verdict] if verdict else COLOURS[0]
    if low is not None and high is not None:
        canvas.add(Line(((x, place.y(low)), (x, place.y(high))), colour, 2))
    canvas.add(Dot(x, place.y(point.row.median or 0.0), colour, 4))
    if verdict and verdict.value in ("FASTER", "SLOWER"):
        assert point.comparison is not None
        text = f"{point.comparison.ratio:.2f}x"
        canvas.add(Words(x, place.y(point.row.median or 0.0) - 9, text, "middle", 10, colour))
