"""A picture as PNG, where matplotlib is installed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from fictl.errors import SetupError
from fictl.plot.canvas import Box, Canvas, Dot, Line, Mark

_DPI = 144
# SVG counts 96 of its pixels an inch.
_PER_INCH = 96
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def write_png(canvas: Canvas, path: Path) -> None:
    try:
        figures: Any = import_module("matplotlib.figure")
    except ImportError:
        raise SetupError(
            f"{path} needs matplotlib, which is not installed", "--plot out.svg needs nothing"
        ) from None
    figure = figures.Figure((canvas.width / _PER_INCH, canvas.height / _PER_INCH), dpi=_DPI)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, canvas.width), ylim=(canvas.height, 0))
    axes.axis("off")
    for mark in canvas.marks:
        _draw(axes, mark)
    figure.savefig(path)


def _draw(axes: Any, mark: Mark) -> None:
    points = 72 / _PER_INCH
    if isinstance(mark, Line):
        xs, ys = zip(*mark.points, strict=True)
        axes.plot(xs, ys, color=mark.colour, linewidth=mark.width * points)
    elif isinstance(mark, Box):
        axes.broken_barh([(mark.x, mark.width)], (mark.y, mark.height), color=mark.colour)
    elif isinstance(mark, Dot):
        axes.plot([mark.x], [mark.y], "o", color=mark.colour, markersize=2 * mark.radius * points)
    else:
        axes.text(
            mark.x,
            mark.y,
            mark.text,
            ha=_ANCHORS[mark.anchor],
            va="baseline",
            fontsize=mark.size * points,
            color=mark.colour,
            family="monospace",
        )
