from __future__ import annotations

import pytest

from fictl.report.outcome import FAILED, OUT_OF_MEMORY, PASSED, SKIPPED, TestOutcome, remedy


@pytest.mark.parametrize("worse", [SKIPPED, OUT_OF_MEMORY, FAILED])
def test_the_worse_outcome_counts(worse: str) -> None:
    passed, other = TestOutcome("t", PASSED), TestOutcome("t", worse)
    assert passed.worse(other) is other
    assert other.worse(passed) is other
    assert passed.worse(None) is passed


def test_json_has_every_field_and_milliseconds() -> None:
    assert TestOutcome("t", FAILED, 0.12345, "why", "fictl test x").to_dict() == {
        "test": "t",
        "outcome": "failed",
        "seconds": 0.123,
        "reason": "why",
        "command": "fictl test x",
    }


def test_a_reason_that_nobody_knows_has_no_remedy() -> None:
    assert remedy("not today", "scale") == ""
