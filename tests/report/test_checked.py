"""Report of one checked op: its status, and the exit code that follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fictl.errors import FictlError, SetupError
from fictl.project import find
from fictl.report.checked import CheckedOp, ToolCheck
from fictl.report.outcome import TestOutcome
from fictl.report.suppression import Suppression
from fictl.report.test_report import TestReport

RACE: dict[str, Any] = {
    "folder": "tiny/elementwise/twice",
    "op": "twice",
    "test": "test_one",
    "kind": "race",
    "file": "twice.cuh",
    "line": 9,
    "kernel": "TwiceKernel",
    "text": "race",
}
PASSED = TestReport((TestOutcome("test_it", "passed"),))
ACCEPTED = [Suppression("twice", "same value")]


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize(
    ("check", "accepted", "code"),
    [
        (ToolCheck("racecheck", PASSED), [], 0),
        (ToolCheck("racecheck", PASSED, (RACE,)), [], 1),
        (ToolCheck("racecheck", PASSED, (RACE,)), ACCEPTED, 0),
        (ToolCheck("racecheck", PASSED, problem=SetupError("it does not fit", "")), [], 3),
        (ToolCheck("racecheck", PASSED, problem=FictlError("it was ended", "")), [], 1),
        (ToolCheck("racecheck", PASSED, (RACE,), problem=SetupError("it does not fit", "")), [], 1),
        # What was not printed may be anything.
        (ToolCheck("racecheck", PASSED, (RACE,), unprinted=3), ACCEPTED, 1),
        (ToolCheck("initcheck", PASSED, unprinted=3, elsewhere=9), [], 1),
    ],
)
def test_the_exit_code_says_what_is_known(check: ToolCheck, accepted, code: int) -> None:
    (folder,) = find("twice")
    assert CheckedOp.judged(folder, PASSED, [check], accepted).exit_code == code


def test_reports_that_were_not_printed_are_told_by_tool_and_number(tiny: Path) -> None:
    (folder,) = find("twice")
    checked = CheckedOp.judged(folder, PASSED, [ToolCheck("initcheck", PASSED, (), 3, 9)], ())
    assert checked.problem is not None
    assert "initcheck left out 3 reports" in checked.problem.message
    assert "--print-limit" in checked.problem.hint


def test_every_tool_is_an_item_for_programs(tiny: Path) -> None:
    (folder,) = find("twice")
    check = ToolCheck("memcheck", PASSED, (RACE,), elsewhere=2)
    (item,) = CheckedOp.judged(folder, PASSED, [check], ()).to_dict()["checks"]
    assert item == {
        "tool": "memcheck",
        "passed": 1,
        "failed": [],
        "seconds": 0.0,
        "unprinted": 0,
        "elsewhere": 2,
        "problem": None,
    }


def test_a_test_that_fails_where_a_defect_was_seen_is_told_with_it(tiny: Path) -> None:
    (folder,) = find("twice")
    both = TestReport((TestOutcome("test_one", "failed"), TestOutcome("test_two", "failed")))
    seen = ToolCheck("memcheck", both, (RACE,))
    checked = CheckedOp.judged(folder, both, [seen], ())
    assert [each.test for each in checked.unexplained] == ["test_two"]
    assert checked.failed_with(checked.findings[0]) == 1


def test_what_another_tool_saw_or_what_is_accepted_explains_no_failure(tiny: Path) -> None:
    (folder,) = find("twice")
    failed = TestReport((TestOutcome("test_one", "failed"),))
    apart = [ToolCheck("memcheck", failed), ToolCheck("racecheck", PASSED, (RACE,))]
    assert len(CheckedOp.judged(folder, failed, apart, ()).unexplained) == 1
    seen = [ToolCheck("memcheck", failed, (RACE,))]
    assert len(CheckedOp.judged(folder, failed, seen, ACCEPTED).unexplained) == 1


def test_tests_are_counted_and_not_reports(tiny: Path) -> None:
    """A test that launches a kernel three times reports it as often, and so do two tools."""
    (folder,) = find("twice")
    other = {**RACE, "test": "test_two"}
    failed = TestReport((TestOutcome("test_one", "failed"), TestOutcome("test_two", "passed")))
    seen = [
        ToolCheck(tool, failed, (RACE, RACE, RACE, other)) for tool in ("memcheck", "racecheck")
    ]
    checked = CheckedOp.judged(folder, failed, seen, ())
    (finding,) = checked.findings
    assert (finding.tests, checked.failed_with(finding)) == (2, 1)
