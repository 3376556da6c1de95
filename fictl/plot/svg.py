"""A picture as SVG: a file of its own, or a part of a page."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from fictl.plot.canvas import FAINT, INK, Box, Canvas, Dot, Line, Mark, Words

_DARK = (
    "<style>@media (prefers-color-scheme: dark) { .paper { fill: #0d1117 } text.ink { fill: #e6edf3 } "
    ".ink:not(text) { stroke: #e6edf3 } .faint { stroke: #3d444d } }</style>"
)
_CLASSES = {INK: ' class="ink"', FAINT: ' class="faint"'}


def svg(canvas: Canvas) -> str:
    """Return a file: dark on white, and the other way round for a reader whose screen is dark."""
    paper = (
        f'<rect class="paper" width="{canvas.width:g}" height="{canvas.height:g}" fill="white"/>'
    )
    return _drawing(canvas, "", [_DARK, paper])


def svg_in_page(canvas: Canvas) -> str:
    """Return a part of a page, in the page's own colours."""
    text = _drawing(canvas, ' class="picture"', [])
    return text.replace(f'"{INK}"', '"currentColor"').replace(f'"{FAINT}"', '"#8884"')


def _drawing(canvas: Canvas, kind: str, below: Sequence[str]) -> str:
    size = f"{canvas.width:g} {canvas.height:g}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg"{kind} viewBox="0 0 {size}" '
            f'width="{canvas.width:g}" height="{canvas.height:g}" '
            'font-family="ui-monospace, Menlo, Consolas, monospace">',
            *below,
            *map(_element, canvas.marks),
            "</svg>\n",
        ]
    )


def _element(mark: Mark) -> str:
    name, attributes, text = _drawn(mark)
    more = _CLASSES.get(mark.colour, "")
    if mark.series:
        more += f" data-series={quoteattr(mark.series)}"
    inside = f"<title>{escape(mark.tip)}</title>" if mark.tip else ""
    inside += escape(text)
    ending = f">{inside}</{name}>" if inside else "/>"
    return f"<{name} {attributes}{more}{ending}"


def _drawn(mark: Mark) -> tuple[str, str, str]:
    """Return the element's name, its attributes and its text."""
    if isinstance(mark, Line):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in mark.points)
        style = f'fill="none" stroke="{mark.colour}" stroke-width="{mark.width:g}"'
        return "polyline", f'points="{points}" {style}', ""
    if isinstance(mark, Box):
        place = f'x="{mark.x:.1f}" y="{mark.y:.1f}"'
        size = f'width="{mark.width:.1f}" height="{mark.height:.1f}"'
        return "rect", f'{place} {size} fill="{mark.colour}"', ""
    if isinstance(mark, Dot):
        place = f'cx="{mark.x:.1f}" cy="{mark.y:.1f}"'
        return "circle", f'{place} r="{mark.radius:g}" fill="{mark.colour}"', ""
    assert isinstance(mark, Words)
    style = f'text-anchor="{mark.anchor}" font-size="{mark.size:g}" fill="{mark.colour}"'
    return "text", f'x="{mark.x:.1f}" y="{mark.y:.1f}" {style}', mark.text
