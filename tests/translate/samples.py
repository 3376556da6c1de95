"""Functions of (a: int, b: int, x: float, y: float, p: bool) that have a translation."""

# ruff: noqa: RET505, RUF021, RUF057

from __future__ import annotations

import math
from math import exp, sqrt

THREE = 3
HALF = 0.5


def where(condition: bool, one: float, other: float) -> float:
    """As torch has it: this one is looked up where Python runs a sample."""
    return one if condition else other


where.__module__ = "torch"


def arithmetic(a: int, b: int, x: float) -> float:
    return (a + b) * (a - (b - 3)) - -a + x * 2 - -x


def true_division(a: int, b: int) -> float:
    return (a + 1) / (b * b + 1) / 2


def floor_division_by_constants(a: int) -> int:
    return a // 4 + a // -3 + a % 5 + a % -5


def remainders(a: int, b: int) -> int:
    return a % b if b != 0 else -1


def floor_division_of_fractions(x: float, y: float) -> float:
    return x // (y * y + 0.25) + x % -(y * y + 0.25)


def powers(a: int, x: float) -> float:
    return a**2 - (a + 1) ** 3 + -(x**2) + (x * x) ** 0.5 + 2.0 ** (a / 8) + (x * x + 1) ** 1.5


def chained(a: int, b: int, x: float) -> bool:
    return -2 <= a - b < 3 != b and not x > 1 or a == b == 2


def mixed_comparison(a: int, x: float) -> bool:
    return a <= x or a != 3


def conditions_of_numbers(a: int, b: int, x: float) -> int:
    return 1 if a and not (b or x) else 2 if x else 3


def choices(a: int, b: int, x: float) -> float:
    return (a if a > b else x) + where(a > 1 and b > 1, a, b) * (1 if a else 2)


def bits(a: int, b: int, p: bool) -> int:
    return (a & b | 5) ^ ~a if (a > b) & p | (a < 2) ^ p else a & 1 + b


def extremes(a: int, b: int, x: float) -> float:
    return min(a, b) + max(a, b, 2) * min(x, a) - max(-x, abs(x), 0.5) + abs(a - b) + abs(-a)


def rounding(x: float, y: float, a: int) -> int:
    return int(x) + math.floor(y) * 2 + math.ceil(x) + round(y * 2) + int(a) + round(a)


def casts(a: int, x: float, p: bool) -> float:
    return float(a) / 3 + bool(x) + (not p) * 2 + p + -p


def transcendental(x: float, y: float) -> float:
    return (
        exp(-x * x)
        + math.tanh(x)
        + sqrt(y * y + 1)
        + math.log(x * x + 1)
        + math.log2(y * y + 2)
        + math.sin(x) * math.cos(y)
        + math.erf(x)
        + math.exp2(y)
    )


def constants(a: int, x: float) -> float:
    return THREE * a + HALF * x + math.pi - 1e-3 + (x if x < float("inf") else -math.inf)


def locals_and_branches(a: int, b: int, x: float) -> float:
    """With a docstring, names of C++, and a name whose type grows."""
    double = a - b
    if double < 0:
        sign = -1
        double = -double
    elif double == 0:
        return x
    else:
        sign = 1
        if x > 0:
            pass
        else:
            double += 1
    value = 0
    if b > 0:
        value = x / 2
    value *= sign
    return value + double


def parameters_assigned(a: int, b: int) -> int:
    a += b
    if a > 3:
        b = a * 2
    return a - b


def nested_returns(a: int, b: int, p: bool) -> int:
    if p:
        if a > b:
            return 1
        elif a < b:
            return 2
    else:
        if b:
            return 3
        return 4
    return 5


ALL = (
    arithmetic,
    true_division,
    floor_division_by_constants,
    remainders,
    floor_division_of_fractions,
    powers,
    chained,
    mixed_comparison,
    conditions_of_numbers,
    choices,
    bits,
    extremes,
    rounding,
    casts,
    transcendental,
    constants,
    locals_and_branches,
    nested_returns,
    parameters_assigned,
)
