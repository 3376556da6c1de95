"""A comparison as CSV: a line for each case, those that were not compared too."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from fictl.bench.compare.outcome import CompareOutcome
from fictl.bench.written.compared_cells import absent

_COLUMNS = (
    "op",
    "case",
    "a",
    "b",
    "ratio",
    "low",
    "high",
    "verdict",
    "advice",
    "joules_a",
    "joules_b",
    "side_a",
    "side_b",
    "where",
    "threshold",
)


def compared_csv(outcome: CompareOutcome) -> str:
    """Write seconds and joules; `verdict` is empty where a case was not compared."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_rows(outcome))
    return text.getvalue()


def _rows(outcome: CompareOutcome) -> Iterator[dict[str, Any]]:
    of_all = {
        "side_a": outcome.a,
        "side_b": outcome.b,
        "where": outcome.where,
        "threshold": outcome.threshold,
    }
    for case in outcome.cases:
        yield {**case.to_dict(), **of_all}
    for name, why in absent(outcome):
        yield {"case": name, "advice": why, **of_all}
