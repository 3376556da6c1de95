"""JUnit XML: a case for each op and tool."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

from fictl.errors import SetupError
from fictl.report.checked import CheckedOp, ToolCheck
from fictl.report.defects_junit import to_junit
from fictl.report.finding import DefectFinding
from fictl.report.outcome import TestOutcome
from fictl.report.test_report import TestReport

PASSED = TestReport((TestOutcome("test_it", "passed"),), seconds=2.5)
RACE = {"kind": "race", "test": "test_sum", "tool": "racecheck", "text": "race: <a> & \x07\n  at 3"}


def suite(*checks: ToolCheck, findings: tuple[DefectFinding, ...] = (), **more: Any) -> ET.Element:
    text = to_junit([CheckedOp("mine/reduce/sum", PASSED, findings, checks=checks, **more)])
    (found,) = ET.fromstring(text.encode())
    return found


def test_a_finding_fails_the_case_of_its_tool_alone() -> None:
    found = suite(
        ToolCheck("memcheck", PASSED),
        ToolCheck("racecheck", PASSED),
        findings=(DefectFinding(RACE, tests=2),),
    )
    counts = {name: found.get(name) for name in ("name", "tests", "failures", "errors", "skipped")}
    assert counts == {
        "name": "mine/reduce/sum",
        "tests": "2",
        "failures": "1",
        "errors": "0",
        "skipped": "0",
    }
    memcheck, racecheck = found
    assert (memcheck.get("name"), memcheck.get("time"), len(memcheck)) == ("memcheck", "2.500", 0)
    assert racecheck.find("failure").get("message") == "race: <a> &  "
    assert racecheck.find("failure").text == "race: <a> &  \n  at 3\n  first in test_sum and 1 more"


def test_a_finding_of_the_emulated_checker_has_no_tool() -> None:
    facts = {name: value for name, value in RACE.items() if name != "tool"}
    (case,) = suite(ToolCheck("emulated", PASSED), findings=(DefectFinding(facts),))
    assert case.find("failure") is not None


def test_what_is_accepted_fails_nothing() -> None:
    (case,) = suite(
        ToolCheck("racecheck", PASSED), findings=(DefectFinding(RACE, suppressed="so"),)
    )
    assert len(case) == 0


def test_a_failed_test_fails_the_case() -> None:
    failed = TestReport((TestOutcome("test_it", "failed", 0.0, "did not end within 9 s"),))
    (case,) = suite(ToolCheck("memcheck", failed))
    assert case.find("failure").get("message") == "1 test failed"
    assert "test_it  did not end within 9 s" in case.find("failure").text


def test_a_tool_that_cannot_look_is_an_error() -> None:
    problem = SetupError("it does not fit", "install another")
    (case,) = suite(ToolCheck("memcheck", TestReport(), problem=problem))
    assert case.find("error").get("message") == "it does not fit"
    assert case.find("error").text == "install another"


def test_reports_that_were_not_printed_are_an_error_where_nothing_else_was_found() -> None:
    problem = SetupError("initcheck left out 3", "more")
    memcheck, initcheck = suite(
        ToolCheck("memcheck", PASSED), ToolCheck("initcheck", PASSED, unprinted=3), problem=problem
    )
    assert len(memcheck) == 0
    assert initcheck.find("error").get("message") == "initcheck left out 3"


def test_where_no_test_ran_it_is_skipped_for_that_reason() -> None:
    skipped = TestReport((TestOutcome("test_it", "skipped", 0.0, "needs a GPU"),))
    (case,) = suite(ToolCheck("memcheck", skipped))
    assert case.find("skipped").get("message") == "needs a GPU"
