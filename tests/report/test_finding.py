"""One finding a defect, however often it was seen."""

from __future__ import annotations

from typing import Any

import pytest

from fictl.report.finding import DefectFinding, findings
from fictl.report.suppression import Suppression

RACE: dict[str, Any] = {
    "folder": "tiny/elementwise/twice",
    "op": "twice",
    "test": "test_one",
    "kind": "race",
    "file": "twice.cuh",
    "line": 9,
    "kernel": "TwiceKernel",
    "text": "race: read after write",
    "other": {"file": "twice.cuh", "line": 8},
}


def test_programs_read_findings_without_the_words_for_people() -> None:
    data = DefectFinding(RACE, tests=2, suppressed="same value").to_dict()
    assert "text" not in data
    assert (data["kind"], data["tests"], data["suppressed"]) == ("race", 2, "same value")
    assert DefectFinding(RACE).to_dict()["suppressed"] is None


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({"test": "test_two", "thread": [1, 0, 0], "kernel": "TwiceKernel<half>"}, 1),
        ({"line": 10}, 2),
        ({"kind": "out-of-bounds"}, 2),
        ({"other": {"file": "twice.cuh", "line": 7}}, 2),
        ({"other": None}, 2),
    ],
)
def test_kind_and_places_make_a_defect(changes: dict[str, Any], count: int) -> None:
    assert len(findings([RACE, {**RACE, **changes}], ())) == count


def test_without_a_line_the_kernel_stands_for_it() -> None:
    nowhere = {**RACE, "file": "", "line": 0}
    assert len(findings([nowhere, {**nowhere, "kernel": "OtherKernel"}, nowhere], ())) == 2


def test_what_is_accepted_keeps_its_reason() -> None:
    (finding,) = findings([RACE], [Suppression("twice", "same value")])
    assert finding.suppressed == "same value"
