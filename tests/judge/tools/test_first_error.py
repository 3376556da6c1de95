"""The first error of a solution's sources, whoever reports it."""

from __future__ import annotations

import pytest

from fictl.judge.tools.first_error import FirstError, first_error, own_path

SOURCES = ["main.py", "kernels/a.cuh", "a.cuh"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "/c/x/kernels/a.cuh:3:7: error: expected ';'",
            FirstError("expected ';'", "kernels/a.cuh", 3, 7),
        ),
        (
            '/c/x/a.cuh(12): error: identifier "n" is undefined',
            FirstError('identifier "n" is undefined', "a.cuh", 12),
        ),
        (
            '/c/x/a.cuh(12): error #20: identifier "n" is undefined',
            FirstError('identifier "n" is undefined', "a.cuh", 12),
        ),
        (
            "x does not build: /c/a.cuh:1:2: fatal error: no.h: No such file",
            FirstError("no.h: No such file", "a.cuh", 1, 2),
        ),
        (
            "/usr/include/c++/vector:9:1: error: far away\n/c/a.cuh:5:1: error: here",
            FirstError("here", "a.cuh", 5, 1),
        ),
        (
            "/usr/include/c++/vector:9:1: error: far away",
            FirstError("/usr/include/c++/vector:9: far away"),
        ),
        (
            '  File "/c/x/main.py", line 7, in run\n    1/0\nZeroDivisionError: division by zero',
            FirstError("ZeroDivisionError: division by zero", "main.py", 7),
        ),
        ("torch.AcceleratorError: CUDA error", FirstError("torch.AcceleratorError: CUDA error")),
        ("all is well", FirstError("what else is known")),
    ],
)
def test_it_is_found(text: str, expected: FirstError) -> None:
    assert first_error([text], SOURCES, "what else is known") == expected


def test_a_compiler_knows_better_than_the_exception_around_it() -> None:
    texts = ["RuntimeError: it does not build", "/c/a.cuh:5:1: error: here"]
    assert first_error(texts, SOURCES).place == "a.cuh:5:1"


def test_a_source_that_is_only_named_is_the_place() -> None:
    assert first_error([], SOURCES, "tried: main.py defines no run").file == "main.py"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("/c/fictl_python_x/kernels/a.cuh", "kernels/a.cuh"),
        ("a.cuh", "a.cuh"),
        ("/elsewhere/b.cuh", ""),
        ("/c/not_a.cuh", ""),
    ],
)
def test_the_longest_end_of_a_path_is_the_source(said: str, expected: str) -> None:
    assert own_path(said, SOURCES) == expected
