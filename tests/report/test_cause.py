"""Failures by cause: what differs in schedule, dtype and numbers alone is one."""

from __future__ import annotations

from dataclasses import replace

from fictl.report.cause import causes
from fictl.report.outcome import TestOutcome

ONE = TestOutcome(
    "tests/test_a.py::test_it[forward-float16-3x5]",
    "failed",
    reason="out: 3 of 15 elements differ; worst at (0, 1): 1.5, reference 2 (float16: rtol 0.002)",
    command="fictl test a --device emu --seed 7 -k test_it",
)


def test_other_schedules_types_and_numbers_are_the_same_cause() -> None:
    two = "out: 128 of 128 elements differ; worst at (7,): nan, reference -1e-05 (bfloat16: rtol 0)"
    other = replace(ONE, test="tests/test_a.py::test_it[random-7-bfloat16-128]", reason=two)
    (cause,) = causes([ONE, other])
    assert (cause.first, cause.others) == (ONE, 1)
    assert cause.to_dict() == {
        "reason": ONE.reason,
        "command": ONE.command,
        "tests": [ONE.test, other.test],
    }


def test_another_test_output_or_op_is_another_cause() -> None:
    others = [
        replace(ONE, test="tests/test_a.py::test_that[3]"),
        replace(ONE, reason=ONE.reason.replace("out:", "index:")),
        replace(ONE, command="fictl test b --seed 7"),
    ]
    assert [cause.others for cause in causes([ONE, *others])] == [0, 0, 0, 0]
