"""What the documents of the three commands come to."""

from __future__ import annotations

from typing import Any

import pytest

from fictl.errors import FictlError
from fictl.watch.answer import Answer
from fictl.watch.board import Board
from fictl.watch.outcome import StepOutcome, outcome_of

ENVIRONMENT = {"device": "cuda", "timestamp": "", "fictl": "", "commit": "", "python": ""}


def of(step: str, data: Any, code: int = 0, error: FictlError | None = None) -> StepOutcome:
    return outcome_of(Answer(step, code, 1.5, data, error), Board(), 0, 0.0)


def ran(*outcomes: str, skipped: dict[str, int] | None = None) -> dict[str, Any]:
    each = [
        {
            "test": f"t.py::test_{i}",
            "outcome": what,
            "reason": f"because {i}",
            "command": f"run {i}",
        }
        for i, what in enumerate(outcomes)
    ]
    failed = [one["test"] for one in each if one["outcome"] == "failed"]
    full = [one["test"] for one in each if one["outcome"] == "out of memory"]
    return {
        "passed": outcomes.count("passed"),
        "failed": failed,
        "device": "emu",
        "skipped": skipped or {},
        "tests": each,
        "out_of_memory": full,
    }


def bench(status: str = "timed", **more: Any) -> dict[str, Any]:
    row = {
        "op": "p/f/x",
        "function": "x",
        "side": "fictl",
        "case": "x-16-float32",
        "sizes": {},
        "dtype": "float32",
        "status": status,
        "samples": [1e-6] * 10,
        **more,
    }
    return {"environment": ENVIRONMENT | {"warnings": ["hot"]}, "rows": [row]}


def test_a_build_says_what_it_compiled_and_how_long() -> None:
    two = [{"compiled": True, "seconds": 1.0}, {"compiled": True, "seconds": 2.0}]
    assert of("build", two).text == "2 modules compiled in 3.0 s"
    assert of("build", two[:1]).text == "compiled in 1.0 s"
    assert of("build", [{"compiled": False, "seconds": 9.0}]).text == "was built already"


def test_a_build_that_fails_is_its_error() -> None:
    failed = of("build", [{"compiled": False, "seconds": 0.0}], 1, FictlError("no ;", "log"))
    assert failed.problem is not None
    assert (failed.problem.message, failed.problem.hint, failed.exit_code) == ("no ;", "log", 1)


def test_tests_are_counted_and_the_first_that_failed_is_told_with_what_repeats_it() -> None:
    found = of("test", ran("passed", "failed", "failed", skipped={"needs a GPU": 2}), 1)
    assert found.text == "1 passed · 2 failed · 2 not run here"
    assert found.problem is not None
    assert found.problem.message == "t.py::test_1  because 1"
    assert found.problem.hint == "run 1"
    assert found.to_dict()["failed"] == ["t.py::test_1", "t.py::test_2"]


def test_tests_that_this_machine_cannot_run_fail_nothing() -> None:
    found = of("test", ran(skipped={"needs a GPU": 2}), 3)
    assert (found.problem, found.exit_code) == (None, 3)
    assert found.text == "0 passed · 2 not run here · needs a GPU"


def test_tests_without_memory_neither_pass_nor_fail() -> None:
    found = of("test", ran("passed", "out of memory"), 3)
    assert (found.text, found.problem, found.exit_code) == ("1 passed · 1 out of memory", None, 3)


def test_a_bench_is_its_cases() -> None:
    found = of("bench", bench())
    assert (found.text, found.exit_code, found.warnings) == ("1 case timed", 0, ("hot",))
    assert found.to_dict()["cases"][0]["case"] == "x-16-float32"


@pytest.mark.parametrize("status", ["wrong", "failed"])
def test_a_case_that_is_wrong_fails_it(status: str) -> None:
    found = of("bench", bench(status, note="a hang"), 1)
    assert found.problem is not None
    assert found.problem.message == f"x-16-float32  {status}: a hang"
    assert found.standings == ()


@pytest.mark.parametrize("step", ["build", "test", "bench"])
def test_a_command_without_data_is_its_error(step: str) -> None:
    found = of(step, None, 2, FictlError("there is no op 'x'", "did you mean 'y'?"))
    assert found.problem is not None
    assert found.problem.message == "there is no op 'x'"
    assert found.exit_code == 1
