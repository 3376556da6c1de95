"""Rows in the width of a terminal: names are whole, and what does not fit beside them is wrapped at words."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

# Of the names' column, as long as the others can be narrower.
_LEAST = 30
_GAP = "  "


class Columns:
    """The widths for all rows of a table, the first of which may be its header."""

    def __init__(self, rows: Sequence[Sequence[str]], width: int) -> None:
        names, *others = ([*cells] for cells in zip(*rows, strict=True))
        self._widths = _narrowed(others, width - _LEAST)
        left = width - sum(self._widths) - len(_GAP) * len(self._widths)
        self._name = min(max(map(len, names)), max(left, _LEAST))

    def lines(
        self, row: Sequence[str], paint: Callable[[str], str] = lambda cell: cell
    ) -> Iterator[str]:
        """Yield a row's lines; a longer name than its column stands in a line of its own."""
        name, *cells = row
        if len(name) > self._name:
            yield name
            name = ""
        pairs = zip(cells, self._widths, strict=True)
        wrapped = [[name], *(_wrapped(cell, width) for cell, width in pairs)]
        for parts in zip_longest(*wrapped, fillvalue=""):
            padded = [
                paint(part) + " " * (width - len(part))
                for part, width in zip(parts, (self._name, *self._widths), strict=True)
            ]
            yield _GAP.join(padded).rstrip()


def _wrapped(cell: str, width: int) -> list[str]:
    return textwrap.wrap(cell, width, break_long_words=False, break_on_hyphens=False) or [""]


def _narrowed(columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """Take width from the widest column that has words to wrap, until all fit."""
    widths = [max(map(len, cells)) for cells in columns]
    least = [max(len(word) for cell in cells for word in cell.split()) for cells in columns]
    while sum(widths) + len(_GAP) * len(widths) > room:
        spare = [i for i, width in enumerate(widths) if width > least[i]]
        if not spare:
            break
        widths[max(spare, key=lambda i: widths[i])] -= 1
    return widths
