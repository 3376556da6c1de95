"""Tables of a page: each row with its bars on the scale of the table, sorted and filtered by the script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from fictl.printable import printable

_WIDTH, _HEIGHT, _MIDDLE = 200, 14, 7
# The colours of page.css.
_COLOURS = 7


@dataclass(frozen=True)
class Bar:
    """A value with its interval; `series` chooses the colour."""

    value: float
    low: float
    high: float
    series: int = 0


@dataclass(frozen=True)
class PageCell:
    """Text of a cell. value: what it is sorted by, instead of its text. tip: shown on hovering."""

    text: str
    value: float | None = None
    href: str = ""
    tip: str = ""
    bar: Bar | None = None


@dataclass(frozen=True)
class PageRow:
    """A row; `facets` are the values that it is filtered by."""

    cells: Sequence[PageCell]
    facets: Mapping[str, str] = field(default_factory=dict)
    anchor: str = ""


def table(columns: Sequence[str], rows: Sequence[PageRow]) -> Iterator[str]:
    """Write a table, without the columns that would be empty."""
    bars = [cell.bar for row in rows for cell in row.cells if cell.bar]
    most = max((bar.high for bar in bars), default=0.0) or 1.0
    least = min((bar.low for bar in bars if bar.low > 0), default=most)
    kept = [
        place for place in range(len(columns)) if any(_is_filled(row.cells[place]) for row in rows)
    ]
    yield f'<div class="wide"><table class="data" data-least="{least:.6g}" data-most="{most:.6g}">'
    heads = "".join(
        f'<th scope="col">{escape(column)}</th>' for column in (columns[place] for place in kept)
    )
    yield f"<thead><tr>{heads}</tr></thead><tbody>"
    yield from (_row(row, [row.cells[place] for place in kept], most) for row in rows)
    yield "</tbody></table></div>"


def filters(rows: Iterable[PageRow]) -> str:
    """Controls for the tables of the page: a search, and a box for each value of each facet."""
    facets: dict[str, dict[str, None]] = {}
    for row in rows:
        for name, value in row.facets.items():
            facets.setdefault(name, {})[value] = None
    groups = "".join(_group(name, [*values]) for name, values in facets.items() if len(values) > 1)
    return (
        '<form class="filters" hidden><label>filter <input type="search" name="text"></label>'
        f'{groups}<label><input type="checkbox" name="log"> logarithmic bars</label>'
        '<button type="button" name="theme">dark or light</button><output></output></form>'
    )


def _group(name: str, values: Sequence[str]) -> str:
    boxes = "".join(
        f'<label><input type="checkbox" checked data-facet="{escape(name)}" value="{escape(value)}"> '
        f"{escape(value)}</label>"
        for value in values
    )
    return f"<fieldset><legend>{escape(name)}</legend>{boxes}</fieldset>"


def _is_filled(cell: PageCell) -> bool:
    return bool(cell.text or cell.bar)


def _row(row: PageRow, cells: Sequence[PageCell], most: float) -> str:
    facets = "".join(f' data-{name}="{escape(value)}"' for name, value in row.facets.items())
    anchor = f' id="{escape(row.anchor)}"' if row.anchor else ""
    return f"<tr{anchor}{facets}>{''.join(_cell(cell, most) for cell in cells)}</tr>"


def _cell(cell: PageCell, most: float) -> str:
    text = escape(printable(cell.text))
    if cell.href:
        text = f'<a href="{escape(cell.href)}">{text}</a>'
    value = f' data-value="{cell.value:.9g}"' if cell.value is not None else ""
    tip = f' data-tip="{escape(printable(cell.tip))}" tabindex="0"' if cell.tip else ""
    bar = _bar(cell.bar, most) if cell.bar else ""
    return f"<td{value}{tip}>{bar}{text}</td>"


def _bar(bar: Bar, most: float) -> str:
    """Draw it from zero; the script draws it again where the scale is changed."""
    low, value, high = (_WIDTH * number / most for number in (bar.low, bar.value, bar.high))
    numbers = f'data-low="{bar.low:.6g}" data-at="{bar.value:.6g}" data-high="{bar.high:.6g}"'
    return (
        f'<svg class="bar c{bar.series % _COLOURS}" width="{_WIDTH}" height="{_HEIGHT}" {numbers} '
        f'aria-hidden="true"><rect y="2" width="{value:.1f}" height="10"/>'
        f'<path d="M{low:.1f} {_MIDDLE}H{high:.1f}M{low:.1f} 4V10M{high:.1f} 4V10"/></svg>'
    )
