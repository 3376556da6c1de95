"""The picture of fictl's layers, from the map that tests/test_layers.py holds the imports to."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from html import escape
from pathlib import Path
from textwrap import wrap

MAP = Path(__file__).resolve().parents[1] / "tests" / "test_layers.py"

WIDTH, MARGIN, GAP = 920, 16, 10
BOX_WIDTH, BOX_HEIGHT = 168, 54
COLUMNS = (WIDTH - 2 * MARGIN + GAP) // (BOX_WIDTH + GAP)
LINE = 17
STYLE = (
    "text{font:13px sans-serif;fill:#222}.small{font-size:10.5px;fill:#666}"
    ".layer{fill:#f4f6f8;stroke:#c3ccd5}.part{fill:#fff;stroke:#7d8b99}"
)

Layer = set[str]
Siblings = dict[str, set[str]]


def picture() -> str:
    """Top layer first. A part may import every layer below its own, and the siblings its box names."""
    names = runpy.run_path(str(MAP))
    layers: list[Layer] = names["LAYERS"]
    siblings: Siblings = names["SIBLINGS"]
    shapes: list[str] = []
    y = MARGIN
    for layer in reversed(layers):
        drawn, height = _layer(layer, siblings, y)
        shapes += drawn
        y += height + GAP
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" role="img" '
        f'aria-label="the layers of fictl">\n<style>{STYLE}</style>\n'
        f'<rect width="{WIDTH}" height="{y}" fill="#fff"/>'
    )
    return "\n".join([head, *shapes, "</svg>\n"])


def _layer(layer: Layer, siblings: Siblings, y: int) -> tuple[list[str], int]:
    """One band: parts that may all import each other as a list of names, others as boxes."""
    free = {name for name in layer if siblings.get(name, set()) >= layer}
    shapes, height = _names(sorted(free), y) if free else _rows(layer, siblings, y)
    band = (
        f'<rect class="layer" x="{MARGIN // 2}" y="{y}" width="{WIDTH - MARGIN}" '
        f'height="{height}" rx="6"/>'
    )
    return [band, *shapes], height


def _names(names: list[str], y: int) -> tuple[list[str], int]:
    lines = wrap(", ".join(names), 125)
    shapes = [
        f'<text x="{MARGIN + 4}" y="{y + 20 + LINE * at}">{escape(line)}</text>'
        for at, line in enumerate(lines)
    ]
    return shapes, LINE * len(lines) + 14


def _rows(layer: Layer, siblings: Siblings, y: int) -> tuple[list[str], int]:
    shapes: list[str] = []
    top = y + GAP
    for row in _by_height(layer, siblings):
        for at, name in enumerate(row):
            uses = sorted(siblings.get(name, set()) & layer)
            shapes += _box(name, uses, MARGIN + at * (BOX_WIDTH + GAP), top)
        top += BOX_HEIGHT + GAP
    return shapes, top - y


def _by_height(layer: Layer, siblings: Siblings) -> Iterator[list[str]]:
    """Rows of boxes, those that import others above those that they import."""
    height: dict[str, int] = {}

    def above(name: str) -> int:
        if name not in height:
            height[name] = 1 + max(
                (above(other) for other in siblings.get(name, set()) & layer - {name}), default=-1
            )
        return height[name]

    for level in sorted({above(name) for name in layer}, reverse=True):
        names = sorted(name for name in layer if above(name) == level)
        yield from (names[at : at + COLUMNS] for at in range(0, len(names), COLUMNS))


def _box(name: str, uses: list[str], x: int, y: int) -> Iterator[str]:
    yield (
        f'<rect class="part" x="{x}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="4"/>'
        f'<text x="{x + 8}" y="{y + 18}">{escape(name)}</text>'
    )
    for at, line in enumerate(wrap(f"imports {', '.join(uses)}", 28) if uses else []):
        yield f'<text class="small" x="{x + 8}" y="{y + 30 + 11 * at}">{escape(line)}</text>'
