"""From the reports of a tool to rows like those of the emulated checker: one a defect and test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fictl.project import OpFolder
from fictl.report.finding import site
from fictl.sanitize.record import SanitizerReport
from fictl.sanitize.sources import ReportSources


def rows_of(
    records: Sequence[SanitizerReport], tool: str, folder: OpFolder
) -> Iterator[dict[str, Any]]:
    """`accesses` is how many reports there were of it in that test."""
    sources, found = ReportSources(folder.project), dict[tuple[Any, ...], dict[str, Any]]()
    faulty: set[str] = set()
    for record in records:
        if record.report.kind == "api-error" and record.test in faulty:
            continue  # What every call says after a fault is no defect of its own.
        faulty.add(record.test)
        row = _row(record, tool, folder, sources)
        found.setdefault((record.test, *site(row)), row)["accesses"] += record.report.facts.get(
            "hazards", 1
        )
    yield from found.values()


def _row(
    record: SanitizerReport, tool: str, folder: OpFolder, sources: ReportSources
) -> dict[str, Any]:
    row = {
        "folder": str(folder),
        "op": _function(record, folder),
        "test": record.test,
        "tool": tool,
        **record.report.to_dict(),
        "accesses": 0,
        "text": record.text(),
    }
    sources.locate(row)
    return row


def _function(record: SanitizerReport, folder: OpFolder) -> str:
    """By the calls in Python that led to it, by the name of a generated test; else the module."""
    names = [declaration.name for declaration in folder.declarations()]
    for frame in reversed(record.host):
        if frame.function in names and Path(frame.file).name == folder.op.name:
            return frame.function
    case = re.search(rf"\[({'|'.join(map(re.escape, names))})-", record.test)
    return case[1] if case else folder.module
