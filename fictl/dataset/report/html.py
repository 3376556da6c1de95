"""A report as an interactive page: its tables and pictures, and every result with links to its sources."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from fictl.dataset.report.links import Links
from fictl.dataset.report.pictures import pictures
from fictl.dataset.report.report import Report, kind_of
from fictl.dataset.report.result import Result
from fictl.dataset.report.tables import CAUSES, Section, headline, remarks, sections, times
from fictl.plot.page.document import document, paragraphs, picture
from fictl.plot.page.table import Bar, PageCell, PageRow, filters, table
from fictl.plot.svg import svg_in_page

# A browser sorts as many at once; the summary above them is of all.
_MOST_ROWS = 3000
_COLUMNS = (
    *("definition", "solution", "author", "workload", "speedup", "latency"),
    *("hardware", "status", "cause"),
)


def html(report: Report, links: Links | None = None) -> str:
    """Return the page; without `links` it is not known where it will lie, and none leaves it."""
    results = [*_results(report, links)]
    parts = paragraphs([headline(report), *remarks(report)])
    parts.append(filters(results))
    parts += [picture(svg_in_page(canvas), "author") for canvas in pictures(report)]
    for section in sections(report):
        parts.append(f"<h2>{escape(section.title)}</h2>")
        parts += table(section.columns, [*_rows(section, report)])
    if results:
        parts.append("<h2>Results</h2>")
        if len(report.results) > _MOST_ROWS:
            parts.append(f"<p>the first {_MOST_ROWS} of {len(report.results)}</p>")
        parts += table(_COLUMNS, results)
    return document(f"fictl dataset report · {report.root}", parts)


def _rows(section: Section, report: Report) -> Iterator[PageRow]:
    if section.title == CAUSES:
        yield from _causes(section, report)
        return
    for row in section.rows:
        yield PageRow([PageCell(text, _sorted_by(text)) for text in row])


def _sorted_by(text: str) -> float | None:
    """Read what a cell is sorted by: 1.50x, 33%, 2/3; None if it is not a number."""
    first = text.removesuffix("x").removesuffix("%").partition("/")[0]
    try:
        return float(first)
    except ValueError:
        return None


def _causes(section: Section, report: Report) -> Iterator[PageRow]:
    """Failures, each with a link to the first result that it was found in."""
    places: dict[tuple[str, str], int] = {}
    for place, result in enumerate(report.results[:_MOST_ROWS]):
        places.setdefault(kind_of(result), place)
    for number, (row, cause) in enumerate(zip(section.rows, report.causes, strict=True)):
        *cells, example = row
        href = f"#result-{places[cause.kind]}" if cause.kind in places else ""
        linked = [
            *(PageCell(text, _sorted_by(text)) for text in cells),
            PageCell(example, href=href),
        ]
        yield PageRow(linked, anchor=f"cause-{number}")


def _results(report: Report, links: Links | None) -> Iterator[PageRow]:
    causes = {cause.kind: f"#cause-{number}" for number, cause in enumerate(report.causes)}
    colours = {author.author: place for place, author in enumerate(report.authors)}
    for place, result in enumerate(report.results[:_MOST_ROWS]):
        facets = {"status": result.status, "author": result.author, "definition": result.definition}
        facets["hardware"] = result.hardware
        if not result.passed:
            facets["refused"] = "yes"
        anchor = f"result-{place}"
        yield PageRow(_cells(result, links, causes, colours.get(result.author, 0)), facets, anchor)


def _cells(
    result: Result, links: Links | None, causes: dict[tuple[str, str], str], series: int
) -> Sequence[PageCell]:
    latency = f"{result.latency_ms * 1e3:.4g} us" if result.latency_ms else ""
    speed = result.speedup if result.speedup > 0 and math.isfinite(result.speedup) else None
    bar = Bar(speed, speed, speed, series) if speed and result.is_of_gpu else None
    tip = (
        f"{result.solution}\n{times(result.speedup)} of the reference\n{latency}\n{result.hardware}"
    )
    return (
        PageCell(result.definition),
        PageCell(result.solution, href=links.solution(result.solution) if links else ""),
        PageCell(result.author),
        PageCell(result.workload),
        PageCell(times(result.speedup) if speed else "-", speed, tip=tip if speed else "", bar=bar),
        PageCell(latency, result.latency_ms or None),
        PageCell(result.hardware),
        PageCell(result.status, href=causes.get(kind_of(result), "") if not result.passed else ""),
        PageCell(result.cause, href=links.log(result) if links and result.cause else ""),
    )
