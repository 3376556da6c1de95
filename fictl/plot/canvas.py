"""A picture made of lines, boxes, dots and words, independent of the file format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

INK, FAINT = "#333333", "#cccccc"
# Distinguishable with colour blindness, too (Okabe and Ito).
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999")


@dataclass(frozen=True)
class Line:
    """A line; of every mark, `series` is the side that it belongs to, and `tip` is shown on hovering."""

    points: tuple[tuple[float, float], ...]
    colour: str = INK
    width: float = 1.0
    series: str = ""
    tip: str = ""


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float
    colour: str
    series: str = ""
    tip: str = ""


@dataclass(frozen=True)
class Dot:
    x: float
    y: float
    colour: str
    radius: float = 3.0
    series: str = ""
    tip: str = ""


@dataclass(frozen=True)
class Words:
    """Text; `anchor` says which part of it is at x: start, middle or end."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    size: float = 11.0
    colour: str = INK
    series: str = ""
    tip: str = ""


Mark: TypeAlias = Line | Box | Dot | Words


@dataclass
class Canvas:
    """A list of marks on an area; y grows downwards."""

    width: float
    height: float
    marks: list[Mark] = field(default_factory=list)

    def add(self, *marks: Mark) -> None:
        self.marks += marks


def stacked(canvases: Sequence[Canvas]) -> Canvas:
    """Put canvases below each other on one canvas."""
    whole = Canvas(max(one.width for one in canvases), sum(one.height for one in canvases))
    top = 0.0
    for canvas in canvases:
        whole.add(*(_moved(mark, top) for mark in canvas.marks))
        top += canvas.height
    return whole


def _moved(mark: Mark, down: float) -> Mark:
    if isinstance(mark, Line):
        return replace(mark, points=tuple((x, y + down) for x, y in mark.points))
    return replace(mark, y=mark.y + down)
