"""A report as one page that loads nothing from a server and runs no script."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from fictl.dataset.report.pictures import pictures
from fictl.dataset.report.report import Report
from fictl.dataset.report.tables import Section, headline, remarks, sections
from fictl.plot.canvas import FAINT, INK, Canvas
from fictl.plot.svg import svg

# Light or dark, by the reader's system. The policy blocks scripts even if a name was not escaped.
_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; }
th, td { border-bottom: 1px solid #8884; padding: .25rem .75rem .25rem 0; text-align: left;
  vertical-align: top; overflow-wrap: anywhere; }
th { font-weight: 600; white-space: nowrap; }
td { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 13px; }
svg { max-width: 100%; height: auto; }
</style>
"""


def html(report: Report) -> str:
    title = escape(f"fictl dataset report · {report.root}")
    parts = [f"{_HEAD}<title>{title}</title></head>\n<body>\n<h1>{title}</h1>"]
    parts.append(f"<p>{escape(headline(report))}</p>")
    parts += [f"<p>{escape(remark)}</p>" for remark in remarks(report)]
    parts += [_drawn(canvas) for canvas in pictures(report)]
    for section in sections(report):
        parts.append(f"<h2>{escape(section.title)}</h2>")
        parts += _table(section)
    return "\n".join([*parts, "</body></html>\n"])


def _drawn(canvas: Canvas) -> str:
    """Recolour a picture for the page; by itself it is black on white."""
    text = svg(canvas).replace('fill="white"', 'fill="none"', 1)
    return text.replace(f'"{INK}"', '"currentColor"').replace(f'"{FAINT}"', '"#8884"')


def _table(section: Section) -> Iterator[str]:
    yield '<div class="wide"><table><thead><tr>'
    yield "".join(f"<th>{escape(column)}</th>" for column in section.columns)
    yield "</tr></thead><tbody>"
    for row in section.rows:
        yield f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
    yield "</tbody></table></div>"
