from __future__ import annotations

import csv
import io

from fictl.bench.compare.outcome import CompareOutcome
from fictl.bench.written.compared_csv import compared_csv


def test_every_case_is_a_line_with_its_numbers(outcome: CompareOutcome) -> None:
    rows = list(csv.DictReader(io.StringIO(compared_csv(outcome))))
    assert len(rows) == 8
    slow = rows[2]
    assert (slow["case"], slow["verdict"], float(slow["ratio"])) == ("slow-8", "SLOWER", 1.5)
    assert (float(slow["a"]), slow["side_b"], slow["threshold"]) == (2e-6, "feature/<b>", "0.01")
    assert [row["verdict"] for row in rows[4:]] == [""] * 4
    assert rows[4]["advice"] == "only main has it"
