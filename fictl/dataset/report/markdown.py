"""A report in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fictl.dataset.report.report import Report
from fictl.dataset.report.tables import Section, headline, remarks, sections

# Characters with a meaning in Markdown or HTML.
_MARKS = re.compile(r"([\\`*_{}\[\]<>()#!|~&])")


def markdown(report: Report) -> str:
    lines = [f"# {_text(report.root)}", "", _text(headline(report)), ""]
    lines += [f"- {_text(remark)}" for remark in remarks(report)]
    for section in sections(report):
        lines += ["", f"## {_text(section.title)}", "", *_table(section)]
    return "\n".join(lines) + "\n"


def _table(section: Section) -> Iterator[str]:
    yield f"| {' | '.join(map(_text, section.columns))} |"
    yield f"|{'---|' * len(section.columns)}"
    for row in section.rows:
        yield f"| {' | '.join(map(_text, row))} |"


def _text(text: str) -> str:
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
