"""Rows of a tool's reports, in the form of the emulated device's: one for a defect and a test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fictl.project import OpFolder
from fictl.report.finding import site
from fictl.sanitize.origin import add_origin
from fictl.sanitize.sanitizer_report import SanitizerReport
from fictl.sanitize.sources import ReportSources
from fictl.toolchain import visible_gpus


def rows_of(
    records: Sequence[SanitizerReport], tool: str, folder: OpFolder
) -> Iterator[dict[str, Any]]:
    """Merge reports into rows; `accesses` is the number of reports merged into one."""
    sources, rows = ReportSources(folder.project), dict[tuple[Any, ...], dict[str, Any]]()
    faulty: set[str] = set()
    for record in records:
        if record.report.kind == "api-error" and record.test in faulty:
            continue  # Every call fails after a fault: not a defect of its own.
        faulty.add(record.test)
        row = _row(record, tool, folder, sources)
        rows.setdefault((record.test, *site(row)), row)["accesses"] += record.report.facts.get(
            "hazards", 1
        )
    yield from rows.values()


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
    add_origin(row, folder, "cuda", next((gpu.name for gpu in visible_gpus()), ""))
    return row


def _function(record: SanitizerReport, folder: OpFolder) -> str:
    """Public function, by the Python calls or the name of the generated test; else the module."""
    names = [declaration.name for declaration in folder.declarations()]
    for frame in reversed(record.host):
        if frame.function in names and Path(frame.file).name == folder.op.name:
            return frame.function
    case = re.search(rf"\[({'|'.join(map(re.escape, names))})-", record.test)
    return case[1] if case else folder.module
