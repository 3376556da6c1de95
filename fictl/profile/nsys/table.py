"""What `nsys stats` says, as CSV: a line a kernel, a kind of copy, or a function of the API."""

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
    """Seconds, of `count` times; `share` is percent of all in its table."""

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
    """The CSV alone: nsys says above it what it does. '' where there is none."""
    lines = text.splitlines(keepends=True)
    head = next((i for i, line in enumerate(lines) if _TIME in line), len(lines))
    return "".join(lines[head:])


def parse_rows(text: str) -> tuple[Row, ...]:
    """() where there is no table: 'does not contain' is what nsys says of what did not happen."""
    said = csv.DictReader(table(text).splitlines())
    return tuple(_row(each) for each in said if each.get(_TIME))


def _row(said: Mapping[str, str]) -> Row:
    return Row(
        name=next((said[column] for column in _NAMES if column in said), ""),
        count=int(_first(said, _COUNTS)),
        total=_number(said[_TIME]) * _NS,
        median=_number(said.get("Med (ns)")) * _NS,
        least=_number(said.get("Min (ns)")) * _NS,
        most=_number(said.get("Max (ns)")) * _NS,
        share=_number(said.get("Time (%)")),
    )


def _first(said: Mapping[str, str], columns: tuple[str, ...]) -> float:
    return next((_number(said[column]) for column in columns if column in said), 0.0)


def _number(text: str | None) -> float:
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return 0.0
