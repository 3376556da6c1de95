"""Drawing of a result, in the file format that the path's suffix names."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from fictl.bench.plot.bars import bars
from fictl.bench.plot.roofline import roofline
from fictl.bench.plot.sweep import sweeps
from fictl.bench.result import BenchReport
from fictl.errors import UsageError
from fictl.plot.canvas import Canvas, stacked
from fictl.plot.png import write_png
from fictl.plot.svg import svg

_KINDS = (".svg", ".html", ".png")


def require_kind(path: Path) -> None:
    """Refuse an unknown file format, before anything is measured."""
    if path.suffix not in _KINDS:
        raise UsageError(f"{path} is not a picture", f"its name ends in {', '.join(_KINDS)}")


def draw(report: BenchReport, path: Path) -> Path:
    """Draw a sweep if an axis was swept, else bars; also a roofline if one is known."""
    require_kind(path)
    pictures = list(_pictures(report))
    if not pictures:
        raise UsageError(f"{path}: there is nothing to draw", "nothing was timed")
    canvas = stacked(pictures)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".png":
        write_png(canvas, path)
    else:
        text = svg(canvas) if path.suffix == ".svg" else _page(report, canvas)
        path.write_text(text, encoding="utf-8")
    return path


def _pictures(report: BenchReport) -> Iterator[Canvas]:
    timed = [row for row in report.rows if row.has_time and row.step == "run"]
    machine = report.environment.gpu or "emulated device"
    for function in dict.fromkeys(row.function for row in timed):
        rows = [row for row in timed if row.function == function]
        title = f"{function} · {machine}"
        yield from list(sweeps(title, rows)) or [bars(title, rows)]
        roof = roofline(title, rows, report.environment.ceilings or {})
        if roof is not None:
            yield roof


def _page(report: BenchReport, canvas: Canvas) -> str:
    environment = report.environment
    title = f"fictl bench · {environment.gpu or 'emulated device'} · {environment.timestamp}"
    remarks = "".join(f"<p>{escape(warning)}</p>\n" for warning in environment.warnings)
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f"<body>\n<h1>{escape(title)}</h1>\n{remarks}{svg(canvas)}</body></html>\n"
    )
