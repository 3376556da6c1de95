"""SARIF 2.1.0: the parts that its schema requires, and what code hosts go by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fictl.errors import FictlError
from fictl.report.checked import CheckedOp
from fictl.report.finding import DefectFinding
from fictl.report.outcome import TestOutcome
from fictl.report.sarif import to_sarif
from fictl.report.test_report import TestReport

PASSED = TestReport((TestOutcome("test_it", "passed"),))


@pytest.fixture
def header(tmp_path: Path) -> Path:
    path = tmp_path / "my project" / "sum.cuh"
    path.parent.mkdir()
    path.write_text("one\n  two = three;\n  four();\n")
    return path


@pytest.fixture
def race(header: Path) -> dict[str, Any]:
    return {
        "folder": "mine/reduce/sum",
        "op": "sum",
        "test": "test_sum[3]",
        "kind": "race",
        "kernel": "SumKernel",
        "what": "a write and a read",
        "cause": "no barrier",
        "text": "race",
        "file": str(header),
        "line": 2,
        "other": {"what": "a read", "file": str(header), "line": 3, "callers": []},
    }


def run_of(base: Path, *findings: DefectFinding, **changes: Any) -> dict[str, Any]:
    document = to_sarif([CheckedOp("mine/reduce/sum", PASSED, findings, **changes)], base)
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-2.1.0.json")
    (run,) = document["runs"]
    return run


def test_a_finding_is_a_result_at_its_line(race, tmp_path: Path) -> None:
    run = run_of(tmp_path, DefectFinding(race, tests=3))
    (result,) = run["results"]
    (location,) = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "my%20project/sum.cuh", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 2},
    }
    assert location["logicalLocations"][0]["fullyQualifiedName"] == "SumKernel"
    assert (result["ruleId"], result["level"]) == ("race", "error")
    assert result["message"]["text"] == (
        "sum: a write and a read. Cause: no barrier. Seen in test_sum[3] and 2 more."
    )
    assert run["originalUriBaseIds"]["SRCROOT"]["uri"] == f"{tmp_path.as_uri()}/"


def test_the_other_side_is_a_related_location(race, tmp_path: Path) -> None:
    (related,) = run_of(tmp_path, DefectFinding(race))["results"][0]["relatedLocations"]
    assert related["physicalLocation"]["region"] == {"startLine": 3}
    assert related["message"] == {"text": "a read"}


def test_frames_are_related_locations_and_where_it_is_from_is_a_property(race, tmp_path) -> None:
    facts = {
        **race,
        "inside": ["/usr/include/half.hpp:7"],
        "callers": [f"{race['file']}:3"],
        "device": "emulated",
        "repeat": "fictl sanitize sum -k it",
    }
    (result,) = run_of(tmp_path, DefectFinding(facts))["results"]
    related = [
        (one["id"], one["message"]["text"], one["physicalLocation"]["region"]["startLine"])
        for one in result["relatedLocations"]
    ]
    assert related == [(0, "a read", 3), (1, "within it", 7), (2, "called here", 3)]
    assert result["properties"]["device"] == "emulated"
    assert result["properties"]["repeat"] == "fictl sanitize sum -k it"
    assert result["message"]["text"].endswith(" Repeat: fictl sanitize sum -k it")


def test_each_kind_is_a_rule_that_is_explained(race, tmp_path: Path) -> None:
    other = {**race, "kind": "kind-of-tomorrow"}
    driver = run_of(tmp_path, DefectFinding(race), DefectFinding(race), DefectFinding(other))[
        "tool"
    ]["driver"]
    assert driver["name"] == "fictl sanitize"
    assert [rule["id"] for rule in driver["rules"]] == ["kind-of-tomorrow", "race"]
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])


def test_what_is_accepted_is_a_suppressed_result(race, tmp_path: Path) -> None:
    (result,) = run_of(tmp_path, DefectFinding(race, suppressed="same value"))["results"]
    assert result["suppressions"] == [
        {"kind": "external", "status": "accepted", "justification": "same value"}
    ]


def test_a_defect_is_the_same_when_lines_above_it_come_and_go(race, header, tmp_path) -> None:
    def fingerprint(facts: dict[str, Any]) -> str:
        (result,) = run_of(tmp_path, DefectFinding(facts))["results"]
        said: str = result["partialFingerprints"]["fictl/v1"]
        return said

    before = fingerprint(race)
    moved = {**race, "line": 3, "other": {**race["other"], "line": 4}}
    assert fingerprint(moved) != before
    header.write_text("zero\n" + header.read_text())
    assert fingerprint(moved) == before


@pytest.mark.parametrize(
    ("file", "line", "physical"),
    [
        ("", 0, None),
        ("lib.cu", 0, {"artifactLocation": {"uri": "lib.cu"}}),
        (
            "/opt/x.h",
            7,
            {"artifactLocation": {"uri": "file:///opt/x.h"}, "region": {"startLine": 7}},
        ),
    ],
)
def test_a_place_outside_or_unknown(race, tmp_path: Path, file, line, physical) -> None:
    facts = {**race, "file": file, "line": line, "other": None}
    (result,) = run_of(tmp_path, DefectFinding(facts))["results"]
    assert result["locations"][0].get("physicalLocation") == physical


def test_what_kept_it_from_looking_is_no_clean_run(tmp_path: Path) -> None:
    failed = TestReport((TestOutcome("test_it", "failed", 0.0, "did not end"),))
    assert run_of(tmp_path)["invocations"][0]["executionSuccessful"]
    (stopped,) = run_of(tmp_path, problem=FictlError("it was ended"))["invocations"]
    assert not stopped["executionSuccessful"]
    assert "it was ended" in stopped["toolExecutionNotifications"][0]["message"]["text"]
    (run,) = to_sarif([CheckedOp("mine/reduce/sum", failed)], tmp_path)["runs"]
    assert not run["invocations"][0]["executionSuccessful"]
