"""Where a message says that something is wrong, and the line that is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from fictl.errors import FictlError
from fictl.watch.problem import Problem


@pytest.fixture
def header(tmp_path: Path) -> Path:
    path = tmp_path / "twice.cuh"
    path.write_text("#pragma once\n  *value *= 2\n}\n")
    return path


@pytest.mark.parametrize("place", ["(2): error: e", ":2:14: error: e", ":2: not valid Python: e"])
def test_the_line_is_found_whoever_says_it(header: Path, place: str) -> None:
    problem = Problem.of(FictlError(f"x does not build: {header}{place}", "log: /y.log"))
    assert (problem.file, problem.line) == (str(header), 2)
    assert problem.source == "  *value *= 2"
    assert problem.to_dict()["hint"] == "log: /y.log"


@pytest.mark.parametrize("place", ["(99): error: e", "(0): error: e"])
def test_a_line_that_is_not_there_is_none(header: Path, place: str) -> None:
    assert Problem.of(FictlError(f"{header}{place}")).source == ""


@pytest.mark.parametrize(
    "message", ["there is no op 'x'", "/gone/twice.cuh(2): error: e", "undefined reference to `f'"]
)
def test_what_names_no_line_of_ours_is_said_as_it_is(message: str) -> None:
    problem = Problem.of(FictlError(message))
    assert (problem.message, problem.source) == (message, "")
