"""Export of results: CSV with a column for each axis, or JSON lines with all fields."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fictl.bench.result import SCHEMA, BenchReport
from fictl.bench.row import Row

# Lists and objects do not fit in a cell; JSON lines contain them.
_LISTS = {"sizes", "samples", "kernels", "passing"}


def write_csv(report: BenchReport, path: Path) -> None:
    """Write a line for each row, quoted if needed; `axis.rows` is the size of the axis rows."""
    axes = list(dict.fromkeys(axis for row in report.rows for axis in row.sizes))
    lines = [_environment(report) | _cells(row, axes) for row in report.rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(lines[0]) if lines else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    _write(path, text.getvalue())


def write_jsonl(report: BenchReport, path: Path) -> None:
    """Write a line for each row: the schema, the environment, then the row's fields."""
    environment = report.to_dict()["environment"]
    rows = ({"schema": SCHEMA, "environment": environment, **row.to_dict()} for row in report.rows)
    _write(path, "".join(f"{json.dumps(row)}\n" for row in rows))


def _cells(row: Row, axes: list[str]) -> dict[str, Any]:
    document = row.to_dict()
    return {
        **{name: value for name, value in document.items() if name not in _LISTS},
        "passing": " ".join(row.passing),
        "rounds": len(row.samples),
        **{f"axis.{axis}": row.sizes.get(axis, "") for axis in axes},
    }


def _environment(report: BenchReport) -> dict[str, Any]:
    return dict(_named(report))


def _named(report: BenchReport) -> Iterator[tuple[str, Any]]:
    environment = report.environment
    for name in ("timestamp", "device", "gpu", "sm_mhz", "torch", "cuda", "fictl", "commit"):
        yield name, getattr(environment, name)
    yield "driver", (environment.before or {}).get("driver", "")
    yield "warnings", "; ".join(environment.warnings)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
