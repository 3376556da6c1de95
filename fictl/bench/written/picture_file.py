"""A drawn canvas as a file: SVG, a page with it, or PNG."""

from __future__ import annotations

from html import escape
from pathlib import Path

from fictl.plot.canvas import Canvas
from fictl.plot.png import write_png
from fictl.plot.svg import svg
from fictl.user_file import write_text


def write_picture(canvas: Canvas, path: Path, title: str) -> None:
    if path.suffix.lower() == ".png":
        path.parent.mkdir(parents=True, exist_ok=True)
        write_png(canvas, path)
        return
    picture = svg(canvas)
    page = (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n<body>\n{picture}</body></html>\n"
    )
    write_text("--out", path, page if path.suffix.lower() == ".html" else picture)
