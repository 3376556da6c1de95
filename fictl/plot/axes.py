"""Two logarithmic axes: a frame with tick marks, on which values are placed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fictl.plot.canvas import FAINT, Canvas, Line, Words

_WIDTH, _HEIGHT = 900.0, 420.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 80.0, 190.0, 54.0, 50.0
# More tick marks than this, and their labels overlap.
_MARKS = 12


@dataclass(frozen=True)
class LogAxis:
    """A logarithmic axis from `low` to `high`, both powers of `base`."""

    low: float
    high: float
    base: int

    @classmethod
    def around(cls, values: Iterable[float], base: int) -> LogAxis:
        """Make an axis from the power of `base` below all values to the one above them."""
        powers = [math.log(value, base) for value in values]
        low, high = math.floor(min(powers) + 1e-9), math.ceil(max(powers) - 1e-9)
        return cls(float(base) ** low, float(base) ** max(high, low + 1), base)

    def share(self, value: float) -> float:
        return math.log(value / self.low) / math.log(self.high / self.low)

    def marks(self) -> Iterator[float]:
        powers = round(math.log(self.high / self.low, self.base))
        step = max(1, math.ceil(powers / _MARKS))
        return (self.low * float(self.base) ** power for power in range(0, powers + 1, step))


@dataclass(frozen=True)
class PlotFrame:
    """Axes on a canvas, with space for a legend at the right."""

    canvas: Canvas
    x: LogAxis
    y: LogAxis

    @classmethod
    def of(cls, title: str, x: tuple[str, LogAxis], y: tuple[str, LogAxis]) -> PlotFrame:
        frame = cls(Canvas(_WIDTH, _HEIGHT), x[1], y[1])
        frame.canvas.add(
            Words(10, 20, title, size=14),
            Words(_LEFT, _TOP - 8, y[0]),
            Words(_WIDTH - _RIGHT, _HEIGHT - 12, x[0], "end"),
        )
        frame.draw_marks()
        return frame

    def place(self, x: float, y: float) -> tuple[float, float]:
        across, up = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        return _LEFT + across * self.x.share(x), _HEIGHT - _BOTTOM - up * self.y.share(y)

    def draw_marks(self) -> None:
        for value in self.x.marks():
            ends = (self.place(value, self.y.low), self.place(value, self.y.high))
            self.canvas.add(Line(ends, FAINT))
            self.canvas.add(Words(ends[0][0], ends[0][1] + 16, _spelled(value), "middle", 10))
        for value in self.y.marks():
            ends = (self.place(self.x.low, value), self.place(self.x.high, value))
            self.canvas.add(Line(ends, FAINT))
            self.canvas.add(Words(ends[0][0] - 6, ends[0][1] + 4, _spelled(value), "end", 10))

    def legend(self, position: int, text: str, colour: str) -> None:
        x, y = _WIDTH - _RIGHT + 16, _TOP + 10 + 18 * position
        self.canvas.add(Line(((x, y - 4), (x + 18, y - 4)), colour, 3))
        self.canvas.add(Words(x + 24, y, text))


def _spelled(value: float) -> str:
    """Spell a mark's value, a million as 1Mi: seven digits would overlap the next mark."""
    if value >= 1 << 20 and value % (1 << 20) == 0:
        return f"{value / (1 << 20):g}Mi"
    return f"{value:.6g}"
