"""A result as an interactive page: a table with bars for each function, its sweeps and its roofline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from fictl.bench.plot.reading import facts_of, interval_of, time_of
from fictl.bench.result import BenchReport, Environment
from fictl.bench.row import Row
from fictl.plot.canvas import Canvas
from fictl.plot.page.document import document, link_beside, paragraphs, picture
from fictl.plot.page.table import Bar, PageCell, PageRow, filters, table
from fictl.plot.svg import svg_in_page
from fictl.project import OpFolder

_COLUMNS = ("case", "side", "time", "95 %", "of fictl's", "of ceiling", "GB/s", "TFLOP/s", "remark")


def page(
    report: BenchReport,
    pictures: Mapping[str, Sequence[Canvas]],
    path: Path,
    folders: Sequence[OpFolder],
) -> str:
    """Return the page; `pictures` are by function, and ops are linked where the page lies beside them."""
    environment = report.environment
    title = f"fictl bench · {environment.gpu or 'emulated device'} · {environment.timestamp}"
    by_function: dict[str, list[Row]] = {}
    for row in report.rows:
        by_function.setdefault(row.function, []).append(row)
    lines = {function: [*_lines(rows)] for function, rows in by_function.items()}
    parts = [*paragraphs([*_machine(environment), *environment.warnings])]
    parts.append(filters(line for among in lines.values() for line in among))
    for function, rows in by_function.items():
        parts.append(f"<h2>{escape(function)}</h2>")
        parts.append(_source(rows[0].op, path, folders))
        parts += [picture(svg_in_page(drawing), "side") for drawing in pictures.get(function, ())]
        parts += table(_COLUMNS, lines[function])
    return document(title, parts)


def _machine(environment: Environment) -> Iterator[str]:
    clock = f"{environment.sm_mhz} MHz" if environment.sm_mhz else ""
    torch = f"torch {environment.torch}" if environment.torch else ""
    cuda = f"CUDA {environment.cuda}" if environment.cuda else ""
    yield " · ".join(filter(None, [clock, f"commit {environment.commit}", torch, cuda]))
    if not environment.gpu:
        yield "These times are of the emulated device: they say nothing of a GPU's."


def _source(op: str, path: Path, folders: Sequence[OpFolder]) -> str:
    folder = next((folder for folder in folders if str(folder) == op), None)
    href = link_beside(folder.path, path, folder.project.root) if folder else ""
    return f'<p><a href="{href}/">{escape(op)}</a></p>' if href else f"<p>{escape(op)}</p>"


def _lines(rows: Sequence[Row]) -> Iterator[PageRow]:
    sides = list(dict.fromkeys(row.side for row in rows))
    own = {(row.case, row.step): row.median for row in rows if not row.is_baseline}
    for row in rows:
        facets = {"side": row.side, "status": row.status, "dtype": row.dtype}
        if row.median is None:
            facets["refused"] = "yes"
        cells = _cells(row, sides.index(row.side), own.get((row.case, row.step)))
        yield PageRow([*cells], facets)


def _cells(row: Row, series: int, own: float | None) -> Iterable[PageCell]:
    step = "" if row.step == "run" else f" {row.step}"
    yield PageCell(f"{row.case}{step}")
    yield PageCell(row.side)
    yield PageCell(time_of(row), row.median, tip=facts_of(row), bar=_bar(row, series))
    low, high = row.interval
    yield PageCell(interval_of(row), high - low if low and high else None)
    yield _number(row.median / own if row.median and own else None, "x")
    yield _number(row.of_ceiling and 100 * row.of_ceiling, f" % {row.ceiling}")
    yield _number(row.gbps)
    yield _number(row.tflops)
    off = f"off {row.off:.2g}x of what the op's tests allow" if row.off else ""
    yield PageCell(" · ".join(filter(None, (row.note, off))))


def _bar(row: Row, series: int) -> Bar | None:
    low, high = row.interval
    if row.median is None or low is None or high is None:
        return None
    return Bar(row.median, low, high, series)


def _number(value: float | None, unit: str = "") -> PageCell:
    if not value:
        return PageCell("")
    return PageCell(f"{value:.0f}{unit}" if value >= 1000 else f"{value:.3g}{unit}", value)
