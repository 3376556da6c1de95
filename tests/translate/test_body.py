"""What the C++ of a Python function gives is what Python gives."""

from __future__ import annotations

import inspect
import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import pytest

from fictl.translate import Result, Type, Untranslatable, Value, body, read_function

from . import samples
from .conftest import Compiled, written

_INTS = (-17, -8, -3, -1, 0, 1, 2, 3, 5, 12)
_VALUES = {
    "a": _INTS,
    "b": _INTS,
    "x": (-3.75, -1.0, -0.5, 0.0, 0.25, 1.0, 2.5, 7.0),
    "y": (-2.5, -0.75, 0.0, 0.5, 1.5, 3.25),
    "p": (False, True),
}


@pytest.mark.parametrize("function", samples.ALL, ids=lambda each: each.__name__)
def test_it_gives_what_python_gives(function: Callable[..., Any], compiled: Compiled) -> None:
    names = [*inspect.signature(function).parameters]
    every = [*itertools.product(*(_VALUES[name] for name in names))]
    for given in every if len(every) <= 2000 else random.Random(7).sample(every, 2000):
        expected, found = function(*given), compiled[function.__name__](*given)
        assert math.isclose(found, expected, rel_tol=2e-6, abs_tol=2e-5), (given, expected, found)


def test_a_divisor_that_the_host_knows_divides_as_python_does(compiled: Compiled) -> None:
    numbers = random.Random(11)
    most = (1 << 31) - 1
    ends = (*range(-9, 10), most, -most, most - 1, 1 << 16, -(1 << 30))
    for _ in range(2000):
        a = numbers.choice((numbers.choice(ends), numbers.randint(-most, most)))
        b = numbers.choice((numbers.choice(ends), numbers.randint(-most, most))) or 1
        assert compiled["quotient"](a, b) == a // b, (a, b)
        assert compiled["remainder_"](a, b) == a % b, (a, b)


def test_the_same_function_is_the_same_text() -> None:
    texts = {written(samples.locals_and_branches)[0] for _ in range(3)}
    assert len(texts) == 1


def _place(function: Callable[..., Any], result: Result = Result.CONDITION) -> str:
    values = {"q": Value("at.query", Type.INT), "k": Value("at.key", Type.INT)}
    lines, _ = body(read_function(function), values, result)
    return "\n".join(lines)


def test_a_short_function_is_a_short_line() -> None:
    assert _place(lambda q, k: abs(q - k) <= 4) == "return abs(at.query - at.key) <= 4;"


def test_locals_are_declared_where_they_begin() -> None:
    def near(q, k):
        distance = abs(q - k)
        if q > 3:
            return distance < 2
        at = k
        return distance < at

    assert _place(near) == (
        "const int distance = abs(at.query - at.key);\n"
        "if (at.query > 3) {\n"
        "  return distance < 2;\n"
        "}\n"
        "const int at_ = at.key;\n"
        "return distance < at_;"
    )


def test_what_is_inexact_anyway_is_divided_by_an_inverse_that_is_found_once() -> None:
    def scaled(x, y, w, n):
        half = w / 2
        changing = 1.0 if n > 3 else w
        return x / w + x / half + x / 8 - y / w - x / changing - x / y - n / w

    values = {
        "x": Value("x", Type.FLOAT, inexact=True),
        "y": Value("y", Type.FLOAT),
        "w": Value("w", Type.FLOAT, uniform=True),
        "n": Value("n", Type.INT),
    }
    lines, _ = body(read_function(scaled), values, Result.NUMBER)
    assert lines == [
        "const float half = w / 2;",
        "const float changing = n > 3 ? 1.0f : w;",
        "return x * (1.0f / w) + x * (1.0f / half) + x * (1.0f / 8) - y / w - x / changing - x / y "
        "- n / w;",
    ]


def test_numbers_around_a_function_are_part_of_it() -> None:
    window, scale = 5, 0.5
    assert _place(lambda q, k: q - k < window * scale) == "return at.query - at.key < 5 * 0.5f;"


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda q, k: q + missing, "'missing' is not known here"),  # noqa: F821
        (lambda q, k: q > kk, "did you mean 'k'"),  # noqa: F821
        (lambda q, k: q > random, "'random' is a module"),
        (lambda q, k: sum([q, k]), "'sum'(…) has no translation"),
        (lambda q, k: q in (1, 2), "is not a comparison|has no translation"),
        (lambda q, k: q is k, "is not a comparison of numbers"),
        (lambda q, k: min(q), "min takes 2 or more arguments"),
        (lambda q, k: (q and k) + 1, "'q' is a number, and `and` and `or` are of conditions"),
        (lambda q, k: samples.chained(q, k, 1.0), "a call of 'samples.chained' has no translation"),
        (lambda q, k: written(q), "'written' is a function of its own"),
        (lambda q, k: q > 2**31 + 1 << 3, "the operator of"),
        (lambda q, k: q > 3000000000, "3000000000 does not fit 32 bits"),
        (lambda q, k: "x", "'x' is not a number"),
        (lambda q, k: [q], "has no translation"),
        (lambda q, k: q * 0.5 & 1, "is of fractions"),
        (lambda q, k: ~(q > k), "~ of a bool"),
    ],
)
def test_what_has_no_translation_says_why(function: Callable[..., Any], why: str) -> None:
    with pytest.raises(Untranslatable, match=why.replace("(", r"\(").replace(")", r"\)")):
        _place(function)


def test_an_error_shows_the_line_as_compilers_do() -> None:
    def looped(q, k):
        total = 0
        for each in range(3):
            total += each
        return total > q

    with pytest.raises(Untranslatable) as caught:
        _place(looped)
    line = inspect.getsourcelines(looped)[1] + 2
    assert str(caught.value).startswith(
        f"{__file__}:{line}:9: looped: 'for each in range(3):' has no translation\n"
        "    for each in range(3):\n"
        "    ^^^^^^^^^^^^^^^^^^^^^\n"
        "  hint: accepted: numbers, + - * / // %"
    )


def test_every_way_returns_a_value_that_is_there() -> None:
    def ends(q, k):  # noqa: RET503
        if q > k:
            return True

    def begins(q, k):
        if q > k:
            late = 1
        return late > 0

    with pytest.raises(Untranslatable, match="may end here without a return"):
        _place(ends)
    with pytest.raises(Untranslatable, match="'late' is not known here"):
        _place(begins)
    with pytest.raises(Untranslatable, match="returns a condition where a number is wanted"):
        _place(lambda q, k: q > k, Result.NUMBER)
