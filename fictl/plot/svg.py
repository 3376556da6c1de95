"""A picture as SVG."""

from __future__ import annotations

from xml.sax.saxutils import escape

from fictl.plot.canvas import Box, Canvas, Dot, Line, Mark


def svg(canvas: Canvas) -> str:
    size = f"{canvas.width:g} {canvas.height:g}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" '
            f'width="{canvas.width:g}" height="{canvas.height:g}" '
            'font-family="ui-monospace, Menlo, Consolas, monospace">',
            f'<rect width="{canvas.width:g}" height="{canvas.height:g}" fill="white"/>',
            *map(_element, canvas.marks),
            "</svg>\n",
        ]
    )


def _element(mark: Mark) -> str:
    if isinstance(mark, Line):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in mark.points)
        style = f'fill="none" stroke="{mark.colour}" stroke-width="{mark.width:g}"'
        return f'<polyline points="{points}" {style}/>'
    if isinstance(mark, Box):
        place = f'x="{mark.x:.1f}" y="{mark.y:.1f}"'
        size = f'width="{mark.width:.1f}" height="{mark.height:.1f}"'
        return f'<rect {place} {size} fill="{mark.colour}"/>'
    if isinstance(mark, Dot):
        place = f'cx="{mark.x:.1f}" cy="{mark.y:.1f}"'
        return f'<circle {place} r="{mark.radius:g}" fill="{mark.colour}"/>'
    style = f'text-anchor="{mark.anchor}" font-size="{mark.size:g}" fill="{mark.colour}"'
    return f'<text x="{mark.x:.1f}" y="{mark.y:.1f}" {style}>{escape(mark.text)}</text>'
