"""Histories as Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence

from fictl.bench.history.levels import HistorySeries
from fictl.bench.written.history_cells import COLUMNS, cells, sparkline
from fictl.bench.written.markdown_text import plain, table
from fictl.timing.verdict import Verdict

_NUMBERS = 3


def history_markdown(series: Sequence[HistorySeries]) -> str:
    return "\n".join(["<!-- fictl history -->", *_lines(series)]) + "\n"


def _lines(series: Sequence[HistorySeries]) -> Iterator[str]:
    for one in series:
        yield f"### {plain(one.case)} {sparkline(one)}"
        yield f"\n{plain(one.op)} · {plain(one.machine)}\n"
        rows = [[_emphasised(text) for text in cells(point)] for point in reversed(one.points)]
        yield from table(COLUMNS, rows, _NUMBERS)
        yield ""


def _emphasised(text: str) -> str:
    word, _, rest = text.partition("  ")
    if word in (Verdict.SLOWER.value, Verdict.FASTER.value, Verdict.UNCLEAR.value):
        return f"**{word}** {plain(rest)}".rstrip()
    return plain(text)


def history_csv(series: Sequence[HistorySeries]) -> str:
    """Write a line for each case and commit, in seconds."""
    rows = [
        {"op": one.op, "case": one.case, "machine": one.machine, **point.to_dict()}
        for one in series
        for point in one.points
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def history_json(series: Sequence[HistorySeries]) -> str:
    """Write the cases alone; the document of `--json` has what was added, too."""
    data = {"schema": "fictl.history.series/1", "series": [one.to_dict() for one in series]}
    return json.dumps(data, indent=1) + "\n"
