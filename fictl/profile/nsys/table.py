"""Tables of `nsys stats`, as CSV: a line for a kernel, a kind of copy, or an API function."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

_NS = 1e-9
_TIME = "Total Time (ns)"
_NAMES = ("Name", "Operation")
_COUNTS = ("Instances", "Num Calls", "Count")


@dataclass(frozen=True)
class Row:
    """Line of a table. Times are seconds over `count` calls; `share` is percent of the
    whole table.
    """

    name: str
    count: int
    total: float
    median: float
    least: float
    most: float
    share: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def table(text: str) -> str:
    """The CSV without nsys's progress lines above it; '' if there is none."""
    lines = text.splitlines(keepends=True)
    head = next((i for i, line in enumerate(lines) if _TIME in line), len(lines))
    return "".join(lines[head:])


def parse_rows(text: str) -> tuple[Row, ...]:
    """Rows; () without a table: nsys prints 'does not contain' for events that did not occur."""
    lines = csv.DictReader(table(text).splitlines())
    return tuple(_row(line) for line in lines if line.get(_TIME))


def _row(line: Mapping[str, str]) -> Row:
    return Row(
        name=next((line[column] for column in _NAMES if column in line), ""),
        count=int(_first(line, _COUNTS)),
        total=_number(line[_TIME]) * _NS,
        median=_number(line.get("Med (ns)")) * _NS,
        least=_number(line.get("Min (ns)")) * _NS,
        most=_number(line.get("Max (ns)")) * _NS,
        share=_number(line.get("Time (%)")),
    )


def _first(line: Mapping[str, str], columns: tuple[str, ...]) -> float:
    return next((_number(line[column]) for column in columns if column in line), 0.0)


def _number(text: str | None) -> float:
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return 0.0
