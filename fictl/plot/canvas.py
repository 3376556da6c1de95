"""A picture as lines, boxes, dots and words, whatever file it becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

INK, FAINT = "#333333", "#cccccc"
# Told apart by the colour-blind too (Okabe and Ito).
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999")


@dataclass(frozen=True)
class Line:
    points: tuple[tuple[float, float], ...]
    colour: str = INK
    width: float = 1.0


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float
    colour: str


@dataclass(frozen=True)
class Dot:
    x: float
    y: float
    colour: str
    radius: float = 3.0


@dataclass(frozen=True)
class Words:
    """`anchor` is the end of the text that stands at x: start, middle or end."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    size: float = 11.0
    colour: str = INK


Mark: TypeAlias = Line | Box | Dot | Words


@dataclass
class Canvas:
    """y grows downwards, as on a page."""

    width: float
    height: float
    marks: list[Mark] = field(default_factory=list)

    def add(self, *marks: Mark) -> None:
        self.marks += marks


def stacked(canvases: Sequence[Canvas]) -> Canvas:
    """Below each other."""
    whole = Canvas(max(each.width for each in canvases), sum(each.height for each in canvases))
    top = 0.0
    for each in canvases:
        whole.add(*(_moved(mark, top) for mark in each.marks))
        top += each.height
    return whole


def _moved(mark: Mark, down: float) -> Mark:
    if isinstance(mark, Line):
        return Line(tuple((x, y + down) for x, y in mark.points), mark.colour, mark.width)
    return type(mark)(**{**vars(mark), "y": mark.y + down})
