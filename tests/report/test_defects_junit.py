"""JUnit XML: a case for each test, under each tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from fictl.errors import SetupError
from fictl.report.checked import CheckedOp, ToolCheck
from fictl.report.defects_junit import to_junit
from fictl.report.finding import DefectFinding
from fictl.report.outcome import TestOutcome
from fictl.report.test_report import TestReport

PASSED = TestReport((TestOutcome("test_it", "passed", 2.5),), seconds=2.5)
BOTH = TestReport(
    (TestOutcome("a/t.py::test_it", "passed"), TestOutcome("t.py::test_sum", "passed"))
)
RACE = {
    "kind": "race",
    "file": "/src/sum.cuh",
    "line": 3,
    "test": "t.py::test_sum",
    "tool": "racecheck",
    "text": "race: <a> & \x07\n  at /src/sum.cuh:3",
    "repeat": "fictl sanitize sum",
}


def suite(*checks: ToolCheck, findings: tuple[DefectFinding, ...] = (), **more: Any) -> ET.Element:
    op = CheckedOp("mine/reduce/sum", PASSED, findings, checks=checks, **more)
    (found,) = ET.fromstring(to_junit([op], Path("/src")).encode())
    return found


def test_a_finding_fails_the_tests_that_show_it_under_its_tool_alone() -> None:
    rows = (RACE, {**RACE, "test": "elsewhere/t.py::test_it"})
    found = suite(
        ToolCheck("memcheck", BOTH),
        ToolCheck("racecheck", BOTH, rows),
        findings=(DefectFinding(RACE, tests=2),),
    )
    counts = {name: found.get(name) for name in ("name", "tests", "failures", "errors", "skipped")}
    assert counts == {
        "name": "mine/reduce/sum",
        "tests": "4",
        "failures": "2",
        "errors": "0",
        "skipped": "0",
    }
    *memcheck, other, first = found
    assert [(case.get("classname"), len(case)) for case in memcheck] == [
        ("mine/reduce/sum.memcheck", 0)
    ] * 2
    assert first.find("failure").get("message") == "race: <a> &  "
    assert first.find("failure").text == (
        "race: <a> &  \n  at sum.cuh:3\n  first in t.py::test_sum and 1 more"
        "\n  repeat: fictl sanitize sum"
    )
    assert other.find("failure").text == "race: <a> &  \n  first in t.py::test_sum"


def test_a_finding_of_the_emulated_checker_has_no_tool() -> None:
    facts = {name: value for name, value in RACE.items() if name != "tool"}
    _, case = suite(ToolCheck("emulated", BOTH), findings=(DefectFinding(facts),))
    assert case.find("failure") is not None


def test_a_finding_of_a_test_without_an_end_is_a_case_of_the_tool() -> None:
    passed, case = suite(ToolCheck("racecheck", PASSED), findings=(DefectFinding(RACE),))
    assert (case.get("name"), len(passed)) == ("racecheck", 0)
    assert case.find("failure").get("message") == "race: <a> &  "


def test_what_is_accepted_fails_nothing() -> None:
    cases = suite(
        ToolCheck("racecheck", BOTH, (RACE,)), findings=(DefectFinding(RACE, suppressed="so"),)
    )
    assert [len(case) for case in cases] == [0, 0]


def test_a_failed_test_fails_its_case() -> None:
    outcome = TestOutcome(
        "/src/t.py::test_it", "failed", 0.0, "did not end within 9 s", "fictl test"
    )
    (case,) = suite(ToolCheck("memcheck", TestReport((outcome,))))
    assert case.get("name") == "t.py::test_it"
    assert case.find("failure").get("message") == "did not end within 9 s"
    assert case.find("failure").text == "fictl test"


def test_a_tool_that_cannot_look_is_an_error() -> None:
    problem = SetupError("it does not fit", "install another")
    (case,) = suite(ToolCheck("memcheck", TestReport(), problem=problem))
    assert case.find("error").get("message") == "it does not fit"
    assert case.find("error").text == "install another"


def test_reports_that_were_not_printed_are_an_error_where_nothing_else_was_found() -> None:
    problem = SetupError("initcheck left out 3", "more")
    *passed, initcheck = suite(
        ToolCheck("memcheck", PASSED), ToolCheck("initcheck", PASSED, unprinted=3), problem=problem
    )
    assert [len(case) for case in passed] == [0, 0]
    assert initcheck.find("error").get("message") == "initcheck left out 3"


def test_where_no_test_ran_it_is_skipped_for_that_reason() -> None:
    skipped = TestReport((TestOutcome("test_it", "skipped", 0.0, "needs a GPU"),))
    (case,) = suite(ToolCheck("memcheck", skipped))
    assert case.find("skipped").get("message") == "needs a GPU"
