"""Floating point: rounding modes exactly, mathematics to the last digits."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
import torch

NEAREST, ZERO, UP, DOWN = "rn", "rz", "ru", "rd"
MODES = (NEAREST, ZERO, UP, DOWN)
NAN = math.nan
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, math.inf, -math.inf, NAN]


@dataclass(frozen=True)
class Format:
    """A binary floating-point type: its precision, its smallest normal exponent, its bits."""

    precision: int
    least: int
    bits: int

    def round(self, exact: Fraction, mode: str) -> float:
        if exact == 0:
            return 0.0
        top = abs(exact.numerator).bit_length() - exact.denominator.bit_length()
        top -= abs(exact) < Fraction(2) ** top
        quantum = Fraction(2) ** (max(top, self.least) - self.precision + 1)
        value = to_whole(exact / quantum, mode) * quantum
        end = Fraction(2) ** (2 - self.least)
        if abs(value) < end:
            return float(value)
        toward = mode in (NEAREST, UP if exact > 0 else DOWN)
        largest = end - Fraction(2) ** (2 - self.least - self.precision)
        return math.copysign(math.inf if toward else float(largest), 1 if exact > 0 else -1)

    def decode(self, word: int) -> float:
        if self is BFLOAT16:
            return FLOAT.decode(word << 16)
        letters = {16: "e", 32: "f", 64: "d"}[self.bits]
        return struct.unpack(f"<{letters}", word.to_bytes(self.bits // 8, "little"))[0]

    def __call__(self, value: float) -> Typed:
        return Typed(self, value)


@dataclass(frozen=True)
class Typed:
    """A result and what its bits mean; within `ulps` of them."""

    format: Format
    value: float
    ulps: int = 0


FLOAT, DOUBLE = Format(24, -126, 32), Format(53, -1022, 64)
HALF, BFLOAT16 = Format(11, -14, 16), Format(8, -126, 16)


def to_whole(exact: Fraction, mode: str) -> int:
    if mode == NEAREST:
        return round(exact)
    return {ZERO: math.trunc, UP: math.ceil, DOWN: math.floor}[mode](exact)


def root(exact: Fraction) -> Fraction:
    """Of many bits; between two values of any format when it is not exact."""
    scaled = exact * 4**1200
    whole = math.isqrt(math.floor(scaled))
    return (whole if whole * whole == scaled else whole + Fraction(1, 2)) / Fraction(2**1200)


def special(name: str, *operands: float) -> float | None:
    """The result where an operand or the result is not a finite number."""
    x, y = operands[0], operands[-1]
    if name in ("div", "rcp"):
        x, y = (1.0, operands[0]) if name == "rcp" else operands
        if y == 0:
            return (
                NAN if x == 0 or math.isnan(x) else math.copysign(math.inf, x) * math.copysign(1, y)
            )
        return None if math.isfinite(x) and math.isfinite(y) else x / y
    if all(map(math.isfinite, operands)):
        return None
    if name == "sqrt":
        return x
    return {
        "add": lambda: x + y,
        "sub": lambda: x - y,
        "mul": lambda: x * y,
        "fma": lambda: (
            operands[0] * operands[1] + operands[2]
            if not math.isfinite(operands[0]) or not math.isfinite(operands[1])
            else operands[2]
        ),
    }[name]()


EXACT: dict[str, Callable[..., Fraction]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "rcp": lambda x: 1 / x,
    "sqrt": root,
    "fma": lambda x, y, z: x * y + z,
}


def arithmetic(name: str, format: Format, mode: str) -> Callable[..., Typed]:
    def apply(*operands: Any) -> Typed:
        numbers = [value.value if isinstance(value, Typed) else value for value in operands]
        found = special(name, *numbers)
        if found is not None:
            return format(found)
        return format(format.round(EXACT[name](*map(Fraction, numbers)), mode))

    return apply


@dataclass(frozen=True)
class Whole:
    """An integer result of so many bits."""

    value: int
    bits: int


def to_integer(bits: int, negative: bool, mode: str, source: Format) -> Callable[[Any], Whole]:
    least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if negative else (0, 2**bits - 1)

    def apply(x: Any) -> Whole:
        x = x.value if isinstance(x, Typed) else x
        if math.isnan(x):
            wide = bits == 64 or source is DOUBLE
            return Whole(1 << (bits - 1) if wide else 0, bits)
        if math.isinf(x):
            return Whole(most if x > 0 else least, bits)
        return Whole(max(least, min(most, to_whole(Fraction(x), mode))), bits)

    return apply


def from_integer(target: Format, mode: str) -> Callable[[int], Typed]:
    return lambda x: target(target.round(Fraction(x), mode))


def signed(value: int, bits: int) -> int:
    value &= 2**bits - 1
    return value - 2**bits if value >> (bits - 1) else value


INTEGERS = {"int": (32, True), "uint": (32, False), "ll": (64, True), "ull": (64, False)}


def prefixed() -> dict[str, Callable[..., Any]]:
    """Every name that ends in a rounding mode."""
    functions: dict[str, Callable[..., Any]] = {}
    for mode in MODES:
        for name in EXACT:
            prefix = "__fmaf" if name == "fma" else f"__f{name}"
            functions[f"{prefix}_{mode}"] = arithmetic(name, FLOAT, mode)
            prefix = "__fma" if name == "fma" else f"__d{name}"
            functions[f"{prefix}_{mode}"] = arithmetic(name, DOUBLE, mode)
        for source, format in (("float", FLOAT), ("double", DOUBLE)):
            for target, (bits, negative) in INTEGERS.items():
                name = f"__{source}2{target}_{mode}"
                functions[name] = to_integer(bits, negative, mode, format)
                functions[f"__{target}2{source}_{mode}"] = from_integer(format, mode)
        functions[f"__double2float_{mode}"] = lambda x, mode=mode: FLOAT(
            FLOAT.round(Fraction(x), mode) if math.isfinite(x) else x
        )
    return functions


def words(x: float) -> tuple[int, int]:
    low, high = struct.unpack("<II", struct.pack("<d", x))
    return low, high


def of_words(high: Whole, low: Whole) -> Typed:
    return DOUBLE(struct.unpack("<d", struct.pack("<II", low.value, high.value))[0])


def extremum(choose: Callable[..., float]) -> Callable[[float, float], Typed]:
    """A number wins against NaN."""
    return lambda x, y: FLOAT(y if math.isnan(x) else x if math.isnan(y) else choose(x, y))


REFERENCES: dict[str, Any] = {
    **prefixed(),
    "fabs": abs,
    "fabsf": abs,
    "S": lambda x: signed(x, 32),
    "U": lambda x: x & 2**32 - 1,
    "ULL": lambda x: x & 2**64 - 1,
    "__double2loint": lambda x: Whole(words(x)[0], 32),
    "__double2hiint": lambda x: Whole(words(x)[1], 32),
    "__hiloint2double": of_words,
    "__float_as_int": FLOAT,
    "__float_as_uint": FLOAT,
    "__int_as_float": lambda bits: bits,
    "min": extremum(min),
    "max": extremum(max),
    "__saturatef": lambda x: FLOAT(0.0 if math.isnan(x) else max(0.0, min(1.0, x))),
    "signbit": lambda x: Whole(math.copysign(1, x) < 0, 32),
    "isnan": lambda x: Whole(math.isnan(x), 32),
    "isinf": lambda x: Whole(math.isinf(x), 32),
}


def matches(word: int, expected: Any) -> bool:
    if isinstance(expected, Whole):
        return word == expected.value & 2**expected.bits - 1
    got, wanted = expected.format.decode(word), expected.value
    if expected.ulps and math.isfinite(wanted) and math.isfinite(got):
        ulp = max(abs(wanted), 2.0**expected.format.least) * 2.0 ** (1 - expected.format.precision)
        return abs(got - wanted) <= expected.ulps * ulp
    return got == wanted or (math.isnan(got) and math.isnan(wanted))


def any_bits(dtype: torch.dtype, seed: int, count: int = 300) -> torch.Tensor:
    """Random bits: all exponents, with NaN, infinities and subnormal numbers; and some near 1."""
    generator = torch.Generator().manual_seed(seed)
    noise = torch.randint(256, (count, dtype.itemsize), generator=generator).byte()
    wild = noise.view(dtype).flatten()
    tame = torch.randn(count, generator=generator, dtype=torch.float64).mul(4).to(dtype)
    return torch.cat([wild, tame, torch.tensor(EDGES, dtype=dtype)])


@pytest.mark.parametrize(("name", "dtype"), [("floats", torch.float32), ("doubles", torch.float64)])
def test_arithmetic_and_conversions_are_exact_in_every_rounding_mode(agree, name, dtype) -> None:
    tensors = (any_bits(dtype, 1), any_bits(dtype, 2), any_bits(dtype, 3))
    agree("surface_float.cu", name, tensors, REFERENCES, matches)


def test_integers_become_floats_exactly_in_every_rounding_mode(agree) -> None:
    generator = torch.Generator().manual_seed(1)
    integers = torch.randint(-(2**63), 2**63 - 1, (300,), generator=generator)
    tensors = (integers, integers >> 7, integers >> 31)
    agree("surface_float.cu", "long_longs", tensors, REFERENCES, matches)


def in_double(function: Callable[..., Any]) -> Callable[..., float]:
    return lambda *x: function(*(torch.tensor(value, dtype=torch.float64) for value in x)).item()


def power(x: float, y: float) -> float:
    return in_double(torch.pow)(x, y)


SMOOTH: dict[str, Callable[..., float]] = {
    "__expf": in_double(torch.exp),
    "exp": in_double(torch.exp),
    "exp2f": in_double(torch.exp2),
    "exp10f": lambda x: power(10, x),
    "__exp10f": lambda x: power(10, x),
    "__logf": in_double(torch.log),
    "__log2f": in_double(torch.log2),
    "__log10f": in_double(torch.log10),
    "log1pf": in_double(torch.log1p),
    "__sinf": in_double(torch.sin),
    "__cosf": in_double(torch.cos),
    "__tanf": in_double(torch.tan),
    "__powf": power,
    "__fdividef": lambda x, y: x / y,
    "fdividef": lambda x, y: x / y,
    "rsqrtf": in_double(torch.rsqrt),
    "rsqrt": in_double(torch.rsqrt),
    "__frsqrt_rn": in_double(torch.rsqrt),
    "rcbrtf": lambda x: 1 / math.copysign(abs(x) ** (1 / 3), x),
    "sinpif": lambda x: math.sin(math.pi * math.fmod(x, 2)),
    "cospif": lambda x: math.cos(math.pi * math.fmod(x, 2)),
    "normcdff": in_double(torch.special.ndtr),
    "normcdfinvf": in_double(torch.special.ndtri),
    "erfinvf": in_double(torch.special.erfinv),
    "erfcinvf": lambda x: in_double(torch.special.erfinv)(1 - x),
    "erfcxf": in_double(torch.special.erfcx),
    "erff": math.erf,
    "cyl_bessel_i0f": in_double(torch.special.i0),
    "cyl_bessel_i1f": in_double(torch.special.i1),
    "rhypotf": lambda *x: 1 / math.hypot(*x),
    "norm3df": math.hypot,
    "rnorm3df": lambda *x: 1 / math.hypot(*x),
    "norm4df": math.hypot,
    "rnorm4df": lambda *x: 1 / math.hypot(*x),
    "tanhf": math.tanh,
}


def test_mathematics_is_right_to_four_units_in_the_last_place(agree) -> None:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(400, generator=generator).mul(3)
    between = torch.rand(400, generator=generator).mul(0.998).add(0.001)
    tensors = (x, torch.randn(400, generator=generator), between)
    # Near a zero of the function the error is that of the argument, not of the result.
    references = {
        name: (lambda *values, function=function: Typed(FLOAT, function(*values), ulps=4))
        for name, function in SMOOTH.items()
    }

    def near(word: int, expected: Typed) -> bool:
        if abs(expected.value) > 2.0**128:
            return FLOAT.decode(word) == math.copysign(math.inf, expected.value)
        return matches(word, expected) or abs(FLOAT.decode(word) - expected.value) < 1e-7

    agree("surface_float.cu", "mathematics", tensors, {**references, "fabsf": abs}, near)
