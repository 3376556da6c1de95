"""What outcomes add up to, and what would run what did not run."""

from __future__ import annotations

import pytest

from fictl.report.outcome import TestOutcome, remedy
from fictl.report.test_report import TestReport, merge

PASSED, FAILED = (
    TestOutcome("a.py::test_good", "passed", 0.5),
    TestOutcome("a.py::test_bad", "failed"),
)
SKIPPED, FULL = (
    TestOutcome("a.py::test_gpu", "skipped", 0.0, "needs a GPU"),
    TestOutcome("l", "out of memory"),
)


@pytest.mark.parametrize(
    ("tests", "code"),
    [
        ((PASSED,), 0),
        ((PASSED, SKIPPED), 0),
        ((PASSED, FAILED), 1),
        ((FAILED, SKIPPED), 1),
        ((FAILED, FULL), 1),
        ((SKIPPED,), 3),
        ((PASSED, FULL), 3),
        ((), 3),
    ],
)
def test_the_exit_code_tells_a_failure_from_what_this_machine_cannot_do(tests, code: int) -> None:
    assert TestReport(tests).exit_code == code


def test_skips_are_counted_by_reason() -> None:
    again = TestOutcome("a.py::test_other", "skipped", 0.0, "needs a GPU")
    assert TestReport((SKIPPED, again, PASSED)).skipped == {"needs a GPU": 2}


def test_reports_of_processes_beside_each_other_are_one() -> None:
    first = TestReport((PASSED,), 3.0, "emu", ("forward", "reverse"))
    merged = merge([first, TestReport((FAILED,), 4.0, "emu", ("forward",))], 4.5)
    assert merged == TestReport((PASSED, FAILED), 4.5, "emu", ("forward", "reverse"))


def test_a_program_reads_every_test_with_its_seconds_reason_and_command() -> None:
    (row,) = TestReport((TestOutcome("t", "failed", 0.12345, "why", "fictl test x"),)).to_dict()[
        "tests"
    ]
    assert row == {
        "test": "t",
        "outcome": "failed",
        "seconds": 0.123,
        "reason": "why",
        "command": "fictl test x",
    }


def test_of_two_ranks_the_worse_outcome_counts_in_either_order() -> None:
    assert FAILED.worse(PASSED) is FAILED
    assert PASSED.worse(FAILED) is FAILED


@pytest.mark.parametrize(
    ("reason", "way"),
    [
        ("needs a GPU", "fictl test scale --device cuda, on a machine with one"),
        ("needs nvcc: none was found", "install one; fictl doctor says how"),
        ("needs 9.0a, the GPU is 8.0", "fictl test scale --device cuda, on a GPU of 9.0a"),
        ("needs 2 ranks, this is 0 of 1", "fictl test scale --gpus 2"),
        ("needs 8 GPUs, 1 is visible", "fictl test scale --gpus 8, on a machine with as many"),
        ("the weather", ""),
    ],
)
def test_a_reason_of_ours_tells_what_would_run_the_test(reason: str, way: str) -> None:
    assert remedy(reason, "scale") == way


def test_without_names_the_command_has_none() -> None:
    assert remedy("needs a GPU", "").startswith("fictl test --device cuda")
