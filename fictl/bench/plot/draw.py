"""Drawing of a result, in the file format that the path's suffix names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from fictl.bench.plot.bars import bars
from fictl.bench.plot.page import page
from fictl.bench.plot.roofline import roofline
from fictl.bench.plot.sweep import sweeps
from fictl.bench.result import BenchReport
from fictl.bench.row import Row
from fictl.errors import UsageError
from fictl.paths import write_atomic
from fictl.plot.canvas import Canvas, stacked
from fictl.plot.png import write_png
from fictl.plot.svg import svg
from fictl.project import OpFolder

_KINDS = (".svg", ".html", ".png")


def require_kind(path: Path) -> None:
    """Refuse an unknown file format, before anything is measured."""
    if path.suffix not in _KINDS:
        raise UsageError(f"{path} is not a picture", f"its name ends in {', '.join(_KINDS)}")


def draw(report: BenchReport, path: Path, folders: Sequence[OpFolder] = ()) -> Path:
    """Draw a sweep if an axis was swept, else bars; also a roofline if one is known.

    A page has a table with bars in their place; it links to those of `folders` that it lies beside.
    """
    require_kind(path)
    if all(row.median is None for row in report.rows):
        raise UsageError(f"{path}: there is nothing to draw", "nothing was timed")
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".html":
        drawings = {
            name: [*_sweeps(report, name), *_roofs(report, name)] for name in _functions(report)
        }
        write_atomic(path, page(report, drawings, path, folders))
        return path
    canvas = stacked([one for name in _functions(report) for one in _pictures(report, name)])
    if path.suffix == ".png":
        write_png(canvas, path)
    else:
        write_atomic(path, svg(canvas))
    return path


def _functions(report: BenchReport) -> list[str]:
    return list(dict.fromkeys(row.function for row in report.rows if row.step == "run"))


def _pictures(report: BenchReport, function: str) -> Iterator[Canvas]:
    title = _title(report, function)
    yield from list(_sweeps(report, function)) or [bars(title, _rows(report, function))]
    yield from _roofs(report, function)


def _sweeps(report: BenchReport, function: str) -> Iterator[Canvas]:
    return sweeps(_title(report, function), _rows(report, function))


def _roofs(report: BenchReport, function: str) -> Iterator[Canvas]:
    ceilings = report.environment.ceilings or {}
    roof = roofline(_title(report, function), _rows(report, function), ceilings)
    if roof is not None:
        yield roof


def _rows(report: BenchReport, function: str) -> list[Row]:
    return [row for row in report.rows if row.function == function and row.step == "run"]


def _title(report: BenchReport, function: str) -> str:
    return f"{function} · {report.environment.gpu or 'emulated device'}"
