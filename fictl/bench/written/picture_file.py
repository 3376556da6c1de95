"""A drawn canvas as a file: SVG or PNG, or in a page that holds more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fictl.plot.canvas import Canvas
from fictl.plot.png import write_png
from fictl.plot.svg import svg
from fictl.user_file import write_text


def write_picture(canvas: Canvas, path: Path, page: Callable[[], str]) -> None:
    """Write the canvas; `page` makes the text of an HTML file, which has the picture in it."""
    kind = path.suffix.lower()
    if kind == ".png":
        path.parent.mkdir(parents=True, exist_ok=True)
        write_png(canvas, path)
    else:
        write_text("--out", path, page() if kind == ".html" else svg(canvas))
