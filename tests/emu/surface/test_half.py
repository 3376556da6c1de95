"""The two 16-bit types: what their headers have for device code only."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import torch

HALF, BFLOAT16 = torch.float16, torch.bfloat16
PRECISION = {HALF: 11, BFLOAT16: 8}
LEAST = {HALF: -14, BFLOAT16: -126}
TYPES = pytest.mark.parametrize(
    ("prefix", "dtype"), [("half", HALF), ("bfloat", BFLOAT16)], ids=["half", "bfloat16"]
)


def nearest(exact: Fraction, dtype: torch.dtype, whole: Callable[[Fraction], int] = round) -> float:
    """The value of the type nearest to a number; infinite if that is beyond the largest."""
    if exact == 0:
        return 0.0
    top = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
    top -= abs(exact) < Fraction(2) ** top
    quantum = Fraction(2) ** (max(top, LEAST[dtype]) - PRECISION[dtype] + 1)
    value = whole(exact / quantum) * quantum
    return float(value) if abs(value) < 2 ** (2 - LEAST[dtype]) else math.copysign(math.inf, value)


def references(dtype: torch.dtype) -> dict[str, Any]:
    def exactly(function: Callable[..., Any]) -> Callable[..., float]:
        """Where all is finite in exact arithmetic, else as floats do it."""

        def apply(*operands: float) -> float:
            if all(map(math.isfinite, operands)):
                return nearest(Fraction(function(*map(Fraction, operands))), dtype)
            return float(function(*operands))

        return apply

    def fused(x: float, y: float, z: float) -> float:
        return exactly(lambda a, b, c: a * b + c)(x, y, z)

    def saturated(x: float) -> float:
        return 0.0 if math.isnan(x) else max(0.0, min(1.0, x))

    def rounded(whole: Callable[[float], int]) -> Callable[[float], float]:
        return lambda x: float(whole(x)) if math.isfinite(x) else x

    def extremum(choose: Callable[..., float]) -> Callable[[float, float], float]:
        return lambda x, y: y if math.isnan(x) else x if math.isnan(y) else choose(x, y)

    return {
        "__hfma": fused,
        "__hfma_sat": lambda *x: saturated(fused(*x)),
        "__hfma_relu": lambda *x: fused(*x) if math.isnan(fused(*x)) else max(fused(*x), 0.0),
        "__hadd": exactly(lambda x, y: x + y),
        "__hsub": exactly(lambda x, y: x - y),
        "__hmul": exactly(lambda x, y: x * y),
        "__hneg": lambda x: -x,
        "__habs": abs,
        "__hmax": extremum(max),
        "__hmin": extremum(min),
        "htrunc": rounded(math.trunc),
        "hceil": rounded(math.ceil),
        "hfloor": rounded(math.floor),
        "hrint": rounded(round),
        "hsqrt": lambda x: nearest(Fraction(math.sqrt(x)), dtype) if math.isfinite(x) else x,
        "hrcp": lambda x: inverse(x, dtype),
        "__heq": lambda x, y: x == y,
        "__hlt": lambda x, y: x < y,
        "__hisnan": math.isnan,
        **integers(),
    }


def inverse(x: float, dtype: torch.dtype) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    return nearest(1 / Fraction(x), dtype) if math.isfinite(x) else 1 / x


class Whole(int):
    """An integer result of `bits`."""

    bits = 32


def integers() -> dict[str, Callable[[float], Whole]]:
    functions = {}
    roundings = {"rn": round, "rd": math.floor, "ru": math.ceil, "rz": math.trunc}
    for target, bits, least in (
        ("int", 32, -(2**31)),
        ("uint", 32, 0),
        ("short", 16, -(2**15)),
        ("ushort", 16, 0),
        ("ll", 64, -(2**63)),
        ("ull", 64, 0),
    ):
        for mode, whole in roundings.items():
            convert = to_integer(whole, bits, least)
            functions[f"__half2{target}_{mode}"] = convert
            functions[f"__bfloat162{target}_{mode}"] = convert
    return functions


def to_integer(whole: Callable[[float], int], bits: int, least: int) -> Callable[[float], Whole]:
    most = least + 2**bits - 1

    def convert(x: float) -> Whole:
        if math.isnan(x):
            value = 2**63 if bits == 64 else 0
        elif math.isinf(x):
            value = most if x > 0 else least
        else:
            value = max(least, min(most, whole(x)))
        result = Whole(value)
        result.bits = bits
        return result

    return convert


def decode(word: int, dtype: torch.dtype) -> float:
    signed = word - 2**16 if word >> 15 else word
    return torch.tensor([signed], dtype=torch.int16).view(dtype).item()


def matches(dtype: torch.dtype) -> Callable[[int, Any], bool]:
    def match(word: int, expected: Any) -> bool:
        if isinstance(expected, Whole):
            return word == expected & 2**expected.bits - 1
        if isinstance(expected, bool):
            return word == expected
        got = decode(word, dtype)
        return got == expected or (math.isnan(got) and math.isnan(expected))

    return match


def any_bits(dtype: torch.dtype, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    noise = torch.randint(256, (500, 2), generator=generator).byte()
    return torch.cat([noise.view(dtype).flatten(), torch.randn(500, generator=generator).to(dtype)])


@TYPES
def test_arithmetic_and_conversions_are_exact(agree, prefix, dtype) -> None:
    tensors = (any_bits(dtype, 1), any_bits(dtype, 2), any_bits(dtype, 3))
    agree(
        "surface_half.cu",
        "halves" if dtype is HALF else "bfloats",
        tensors,
        references(dtype),
        matches(dtype),
    )


def test_a_fused_multiply_add_of_bfloat16_rounds_once(agree) -> None:
    """The sum does not fit into a double: 1 + 2^-8 is half-way, and 2^-100 decides."""
    x = torch.tensor([1 + 2**-7, 1.0, 1.5], dtype=BFLOAT16)
    y = torch.tensor([1 + 2**-7, 2**-100, 1 + 2**-7], dtype=BFLOAT16)
    z = torch.tensor([2**-100, 1 + 2**-7, -(2**-120)], dtype=BFLOAT16)
    agree("surface_half.cu", "bfloats", (x, y, z), references(BFLOAT16), matches(BFLOAT16))


@TYPES
def test_mathematics_is_right_to_one_unit_in_the_last_place(agree, prefix, dtype) -> None:
    x = torch.randn(500, generator=torch.Generator().manual_seed(1)).mul(2).to(dtype)
    functions = {
        "hrsqrt": lambda x: x**-0.5,
        "hlog": math.log,
        "hlog2": math.log2,
        "hlog10": math.log10,
        "hexp": math.exp,
        "hexp2": lambda x: 2.0**x,
        "hexp10": lambda x: 10.0**x,
        "hsin": math.sin,
        "hcos": math.cos,
        "htanh": math.tanh,
        "htanh_approx": math.tanh,
        "__habs": abs,
    }

    def near(word: int, expected: float) -> bool:
        got, wanted = decode(word, dtype), nearest(Fraction(expected), dtype)
        if not math.isfinite(got) or not math.isfinite(wanted):
            return got == wanted
        return math.isclose(got, wanted, rel_tol=2.0 ** (1 - PRECISION[dtype]), abs_tol=2.0**-24)

    agree("surface_half.cu", f"{prefix}_mathematics", (x, x, x), functions, near)


@TYPES
def test_pairs_do_what_two_single_ones_do(emulate, address, prefix, dtype) -> None:
    tensors = (any_bits(dtype, 1), any_bits(dtype, 2), any_bits(dtype, 3))
    wrong = torch.full((len(tensors[0]),), -1, dtype=torch.int32)
    run = getattr(emulate("surface_half.cu"), f"{prefix}_pairs")
    assert run(*map(address, (*tensors, wrong)), len(wrong)) == 0
    assert wrong[:-1].tolist() == [0] * (len(wrong) - 1)


def test_integers_become_bfloat16_in_a_chosen_direction(agree) -> None:
    def rounded(whole: Callable[[Fraction], int]) -> Callable[[int], float]:
        return lambda x: nearest(Fraction(x), BFLOAT16, whole)

    functions = {
        "__int2bfloat16_rz": rounded(math.trunc),
        "__int2bfloat16_rd": rounded(math.floor),
        "__int2bfloat16_ru": rounded(math.ceil),
        "__ll2bfloat16_rd": rounded(math.floor),
        "__ull2bfloat16_ru": rounded(math.ceil),
        "wide": lambda high, low: high * 2**32 + (low & 2**32 - 1),
        "uwide": lambda high, low: (high * 2**32 + (low & 2**32 - 1)) % 2**64,
    }
    generator = torch.Generator().manual_seed(1)
    tensors = tuple(
        torch.randint(-(2**31), 2**31 - 1, (300,), generator=generator, dtype=torch.int32)
        for _ in range(3)
    )
    agree("surface_half.cu", "from_integers", tensors, functions, matches(BFLOAT16))
