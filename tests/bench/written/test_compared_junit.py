from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from fictl.bench.compare.outcome import CompareOutcome
from fictl.bench.written.compared_junit import compared_junit


def outcomes(outcome: CompareOutcome) -> dict[str, str]:
    (suite,) = ET.fromstring(compared_junit(outcome))
    return {case.attrib["name"][:8]: case[0].tag for case in suite}


def test_only_what_is_known_and_well_has_passed(outcome: CompareOutcome) -> None:
    assert outcomes(outcome) == {
        "same-8": "system-out",
        "fast-8": "system-out",
        "slow-8": "failure",
        "x|<img s": "skipped",
        "gone-8": "skipped",
        "fresh-8": "skipped",
        "bad-8": "failure",
        "absent-8": "skipped",
    }


@pytest.mark.parametrize(
    ("gate", "failures"),
    [
        (("unclear",), {"x|<img s", "bad-8"}),
        (("missing",), {"gone-8", "absent-8", "bad-8"}),
        (("new",), {"fresh-8", "bad-8"}),
        ((), {"bad-8"}),
    ],
)
def test_the_gate_decides_what_fails(outcome: CompareOutcome, gate, failures) -> None:
    tags = outcomes(replace(outcome, fail_on=gate))
    assert {name for name, tag in tags.items() if tag == "failure"} == failures


def test_its_counts_are_those_of_the_cases(outcome: CompareOutcome) -> None:
    (suite,) = ET.fromstring(compared_junit(outcome))
    counts = {name: suite.attrib[name] for name in ("tests", "failures", "skipped")}
    assert counts == {"tests": "8", "failures": "2", "skipped": "4"}
