"""Roofline: FLOP/s of the op and of the device, by operations per byte moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fictl.bench.plot.reading import facts_of
from fictl.bench.row import Row
from fictl.plot.axes import LogAxis, PlotFrame
from fictl.plot.canvas import COLOURS, INK, Canvas, Dot, Line


def roofline(title: str, rows: Sequence[Row], ceilings: Mapping[str, float]) -> Canvas | None:
    """Draw the roofline; None if no trace counts operations or no ceiling was measured."""
    shown = [row for row in rows if row.tflops and row.bytes and row.flops]
    bandwidth, peak = ceilings.get("copy", 0.0), ceilings.get("matmul", 0.0)
    if not (shown and bandwidth and peak):
        return None
    ridge = peak / bandwidth
    work = {row.case: row.flops / row.bytes for row in shown if row.flops and row.bytes}
    frame = PlotFrame.of(
        f"{title}  roofline",
        ("FLOP a byte", LogAxis.around([*work.values(), ridge], 10)),
        ("TFLOP/s", LogAxis.around([*(row.tflops or 0.0 for row in shown), peak / 1e12], 10)),
    )
    _roof(frame, bandwidth, peak)
    for position, side in enumerate(dict.fromkeys(row.side for row in shown)):
        colour = COLOURS[position % len(COLOURS)]
        for row in (row for row in shown if row.side == side):
            x, y = frame.place(work[row.case], row.tflops or 0.0)
            frame.canvas.add(Dot(x, y, colour, 4, side, facts_of(row)))
        frame.legend(position, side, colour)
    return frame.canvas


def _roof(frame: PlotFrame, bandwidth: float, peak: float) -> None:
    left = max(frame.x.low, frame.y.low * 1e12 / bandwidth)
    corners = [(left, left * bandwidth / 1e12), (peak / bandwidth, peak / 1e12)]
    corners.append((frame.x.high, peak / 1e12))
    frame.canvas.add(Line(tuple(frame.place(*corner) for corner in corners), INK, 2))
