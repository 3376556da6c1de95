"""Speed of each side along the axis that a benchmark swept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fictl.bench.plot.reading import facts_of
from fictl.bench.row import Row
from fictl.plot.axes import LogAxis, PlotFrame
from fictl.plot.canvas import COLOURS, Canvas, Dot, Line

# Two sizes do not make a sweep.
_FEWEST = 3


def sweeps(title: str, rows: Sequence[Row]) -> Iterator[Canvas]:
    """Yield a picture for each set of rows that differ in one axis only."""
    axis = _swept(rows)
    if not axis:
        return
    for rest, among in _alike(rows, axis).items():
        if len({row.sizes[axis] for row in among}) >= _FEWEST:
            drawn = _sweep(f"{title}  {rest}", axis, among)
            if drawn is not None:
                yield drawn


def _swept(rows: Iterable[Row]) -> str:
    """Return the axis with the most sizes, if these are enough; else ''."""
    seen: dict[str, set[int]] = {}
    for row in rows:
        for axis, size in row.sizes.items():
            seen.setdefault(axis, set()).add(size)
    best = max(seen, key=lambda axis: len(seen[axis]), default="")
    return best if best and len(seen[best]) >= _FEWEST else ""


def _alike(rows: Iterable[Row], axis: str) -> dict[str, list[Row]]:
    by_side: dict[str, list[Row]] = {}
    for row in rows:
        others = [f"{name}={size}" for name, size in row.sizes.items() if name != axis]
        by_side.setdefault(" ".join([*others, row.dtype, *row.passing]), []).append(row)
    return by_side


def _sweep(title: str, axis: str, rows: Sequence[Row]) -> Canvas | None:
    unit, rate = _rate(rows)
    shown = [row for row in rows if rate(row) and row.sizes[axis] > 0]
    if not shown:
        return None
    frame = PlotFrame.of(
        title,
        (axis, LogAxis.around([row.sizes[axis] for row in shown], 2)),
        (unit, LogAxis.around([rate(row) for row in shown], 10)),
    )
    for position, side in enumerate(dict.fromkeys(row.side for row in rows)):
        colour = COLOURS[position % len(COLOURS)]
        along = sorted((row for row in shown if row.side == side), key=lambda row: row.sizes[axis])
        points = [frame.place(row.sizes[axis], rate(row)) for row in along]
        if points:
            frame.canvas.add(Line(tuple(points), colour, 2, side))
        for row, (x, y) in zip(along, points, strict=True):
            frame.canvas.add(_interval(frame, row, x, rate(row), colour))
            frame.canvas.add(Dot(x, y, colour, series=side, tip=facts_of(row)))
        frame.legend(position, _named(side, rows), colour)
    return frame.canvas


def _interval(frame: PlotFrame, row: Row, x: float, value: float, colour: str) -> Line:
    """Draw the interval of a rate, which is the other way round than that of its time."""
    low, high = row.interval
    rates = [value * (row.median or 0.0) / end for end in (high, low) if end]
    ends = tuple((x, frame.place(frame.x.low, rate)[1]) for rate in rates)
    return Line(ends, colour, 4, row.side)


def _named(side: str, rows: Sequence[Row]) -> str:
    """Name a side in the legend, with the number of its cases that were refused."""
    own = [row for row in rows if row.side == side]
    refused = sum(row.median is None for row in own)
    return f"{side} ✗ {refused} of {len(own)}" if refused else side


def _rate(rows: Sequence[Row]) -> tuple[str, Any]:
    """Return unit and value of a rate, for the resource that bounds the op."""
    if any(row.tflops and row.ceiling == "matmul" for row in rows):
        return "TFLOP/s", lambda row: row.tflops
    if any(row.gbps for row in rows):
        return "GB/s", lambda row: row.gbps
    return "calls/s", lambda row: 1 / row.median if row.median else None
