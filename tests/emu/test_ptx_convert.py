"""Conversions and arithmetic on halves give what torch computes, or Python's fractions."""

from __future__ import annotations

import ctypes
import itertools
import math
import struct
from collections.abc import Callable

import pytest
import torch

pytestmark = pytest.mark.usefixtures("compiler")

F16, BF16, E4M3, E5M2 = torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2
DTYPES = {"f16": F16, "bf16": BF16}
HALVES = (0x0000, 0x8001, 0x3C00, 0xBE00, 0x4248, 0x0400, 0x7BFF, 0xFC00, 0x3555, 0x9234, 0x477F)
FLOATS = (
    0.0,
    -0.0,
    1.0,
    -1.5,
    2.5,
    3.1415927,
    65519.0,
    65520.0,
    -7e4,
    5.9e-8,
    2.9e-8,
    1e-3,
    448.0,
    470.0,
    -0.017,
    1.0009766,
    2147483648.0,
    -3e9,
    127.5,
    -0.5,
    1e30,
    math.inf,
    math.nan,
)


def code_of(value: torch.Tensor | float, dtype: torch.dtype) -> int:
    width = torch.int16 if dtype.itemsize == 2 else torch.uint8
    code = int(torch.as_tensor(value, dtype=torch.float32).to(dtype).view(width))
    return code & (0xFFFF if dtype.itemsize == 2 else 0xFF)


def value_of(code: int, dtype: torch.dtype) -> float:
    if dtype.itemsize == 1:
        return float(torch.tensor(code, dtype=torch.uint8).view(dtype).float())
    return float(torch.tensor(code - (code >> 15 << 16), dtype=torch.int16).view(dtype).float())


def float_code(value: float) -> int:
    return struct.unpack("<I", struct.pack("<f", value))[0]


def nearest(value: float) -> float:
    return float(torch.tensor(value, dtype=torch.float64).float())


def towards_zero(value: float, dtype: torch.dtype) -> int:
    code = code_of(value, dtype)
    if math.isfinite(value) and abs(value_of(code, dtype)) > abs(value):
        code -= 1
    return code


def finite(value: float, dtype: torch.dtype) -> int:
    largest = torch.finfo(dtype).max
    return code_of(value if math.isnan(value) else max(-largest, min(largest, value)), dtype)


def relu(value: float) -> float:
    return value if value > 0 or math.isnan(value) else 0.0


def whole(value: float, low: int, high: int, how: Callable[[float], float]) -> int:
    if math.isnan(value):
        return 0
    return int(max(low, min(high, value if math.isinf(value) else how(value))))


def s32(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


def signed(value: float, how: Callable[[float], float]) -> int:
    return whole(value, -(1 << 31), (1 << 31) - 1, how)


def halves(function: Callable[..., float], dtype: torch.dtype, *words: int) -> int:
    """`function` of the lower and of the upper halves, rounded to `dtype`; exact before."""
    low, high = (
        code_of(
            torch.tensor(
                function(*(value_of(w >> s & 0xFFFF, dtype) for w in words)), dtype=torch.float64
            ),
            dtype,
        )
        for s in (0, 16)
    )
    return low | high << 16


def pair(high: int, low: int, width: int) -> int:
    return high << width | low


def tf32(value: float) -> int:
    """Ten digits behind the point; halves go away from zero."""
    code = float_code(value)
    return code if not math.isfinite(value) else (code + 0x1000) & 0xFFFFE000


def top_digits(word: int) -> int:
    shift = max(0, word.bit_length() - 24)
    return word >> shift << shift


def either(a: int, b: int, compare: Callable[[float, float], bool]) -> tuple[bool, bool]:
    low, high = (
        compare(value_of(a >> s & 0xFFFF, F16), value_of(b >> s & 0xFFFF, F16)) for s in (0, 16)
    )
    return low, high


EXPECTED: dict[str, Callable[..., int]] = {
    "cvt.rn.f16.f32": lambda a, b, x, y: code_of(x, F16),
    "cvt.rz.f16.f32": lambda a, b, x, y: towards_zero(x, F16),
    "cvt.rn.bf16.f32": lambda a, b, x, y: code_of(x, BF16),
    "cvt.rz.bf16.f32": lambda a, b, x, y: towards_zero(x, BF16),
    "cvt.rn.relu.bf16.f32": lambda a, b, x, y: code_of(relu(x), BF16),
    "cvt.f32.f16": lambda a, b, x, y: float_code(value_of(a & 0xFFFF, F16)),
    "cvt.rn.f16x2.f32": lambda a, b, x, y: pair(code_of(x, F16), code_of(y, F16), 16),
    "cvt.rn.bf16x2.f32": lambda a, b, x, y: pair(code_of(x, BF16), code_of(y, BF16), 16),
    "cvt.rn.relu.f16x2.f32": lambda a, b, x, y: pair(
        code_of(relu(x), F16), code_of(relu(y), F16), 16
    ),
    "cvt.rna.tf32.f32": lambda a, b, x, y: tf32(x),
    "cvt.rni.s32.f32": lambda a, b, x, y: signed(x, round),
    "cvt.rzi.u32.f32": lambda a, b, x, y: whole(x, 0, (1 << 32) - 1, math.trunc),
    "cvt.rmi.s32.f32": lambda a, b, x, y: signed(x, math.floor),
    "cvt.rpi.ftz.s32.f32": lambda a, b, x, y: signed(x, math.ceil),
    "cvt.rni.f32.f32": lambda a, b, x, y: float_code(
        math.copysign(round(x), x) if math.isfinite(x) else x
    ),
    "cvt.sat.f32.f32": lambda a, b, x, y: float_code(
        0.0 if math.isnan(x) else max(0.0, min(1.0, x))
    ),
    "cvt.rn.f32.s32": lambda a, b, x, y: float_code(nearest(s32(a))),
    "cvt.rz.f32.u32": lambda a, b, x, y: float_code(top_digits(a)),
    "cvt.f64.f32": lambda a, b, x, y: struct.unpack("<Q", struct.pack("<d", x))[0],
    "cvt.s32.s8": lambda a, b, x, y: (a & 0xFF) - (a >> 7 & 1) * 256,
    "cvt.u32.u16": lambda a, b, x, y: a & 0xFFFF,
    "cvt.sat.s8.s32": lambda a, b, x, y: max(-128, min(127, s32(a))),
    "cvt.s64.s32": lambda a, b, x, y: s32(a) & (1 << 64) - 1,
    "add.f16x2": lambda a, b, x, y: halves(lambda p, q: p + q, F16, a, b),
    "add.rn.bf16x2": lambda a, b, x, y: halves(lambda p, q: p + q, BF16, a, b),
    "mul.rn.f16x2": lambda a, b, x, y: halves(lambda p, q: p * q, F16, a, b),
    "sub.rn.f16x2": lambda a, b, x, y: halves(lambda p, q: p - q, F16, a, b),
    "max.f16x2": lambda a, b, x, y: halves(max, F16, a, b),
    "min.bf16x2": lambda a, b, x, y: halves(min, BF16, a, b),
    "fma.rn.f16x2": lambda a, b, x, y: halves(lambda p, q: p * q + p, F16, a, b),
    "fma.rn.bf16x2": lambda a, b, x, y: halves(lambda p, q: p * q + q, BF16, a, b),
    "fma.rn.relu.bf16x2": lambda a, b, x, y: halves(lambda p, q: relu(p * q + q), BF16, a, b),
    "neg.f16x2": lambda a, b, x, y: a ^ 0x80008000,
    "abs.bf16x2": lambda a, b, x, y: a & 0x7FFF7FFF,
    "fma.rn.f16": lambda a, b, x, y: halves(lambda p, q: p * q + q, F16, a, b) & 0xFFFF,
    "{": lambda a, b, x, y: sum(bit << i for i, bit in enumerate(either(a, b, lambda p, q: p < q))),
    "set.gt.f16x2.f16x2": lambda a, b, x, y: sum(
        0x3C00 << 16 * i for i, bit in enumerate(either(a, b, lambda p, q: p > q)) if bit
    ),
    "cvt.rn.satfinite.e4m3x2.f32": lambda a, b, x, y: pair(finite(x, E4M3), finite(y, E4M3), 8),
    "cvt.rn.satfinite.e5m2x2.f32": lambda a, b, x, y: pair(finite(x, E5M2), finite(y, E5M2), 8),
    "cvt.rn.satfinite.relu.e4m3x2.f16x2": lambda a, b, x, y: pair(
        finite(relu(value_of(a >> 16, F16)), E4M3), finite(relu(value_of(a & 0xFFFF, F16)), E4M3), 8
    ),
    "cvt.rn.f16x2.e4m3x2": lambda a, b, x, y: pair(
        code_of(value_of(a >> 8 & 255, E4M3), F16), code_of(value_of(a & 255, E4M3), F16), 16
    ),
    "cvt.rn.f16x2.e5m2x2": lambda a, b, x, y: pair(
        code_of(value_of(a >> 8 & 255, E5M2), F16), code_of(value_of(a & 255, E5M2), F16), 16
    ),
}
# Formats of the results that may be NaN, of which any will do.
PARTS = {"f16x2": (F16, 2), "bf16x2": (BF16, 2), "f16": (F16, 1), "bf16": (BF16, 1)} | {
    "e4m3x2": (E4M3, 2),
    "e5m2x2": (E5M2, 2),
}


def is_float_nan(code: int) -> bool:
    return code & 0x7FFFFFFF > 0x7F800000


def same(opcode: str, got: int, expected: int) -> bool:
    """NaN equals NaN."""
    words = opcode.split(".")
    target = next((w for w in words[1:] if w in PARTS), "")
    if words[0] == "cvt" and words[-2] in ("f32", "tf32"):
        return got == expected or (is_float_nan(got) and is_float_nan(expected))
    if not target or (words[0] == "cvt" and words[-2] not in PARTS):
        return got == expected
    dtype, count = PARTS[words[-2] if words[0] == "cvt" else target]
    width = 8 * dtype.itemsize
    mask = (1 << width) - 1
    parts = [((got >> i * width) & mask, (expected >> i * width) & mask) for i in range(count)]
    return all(p == q or (nan(p, dtype) and nan(q, dtype)) for p, q in parts)


def nan(code: int, dtype: torch.dtype) -> bool:
    return math.isnan(value_of(code, dtype))


def test_conversions_give_what_torch_gives(emulate) -> None:
    library = emulate("ptx_convert.cu")
    library.text.restype = ctypes.c_char_p
    texts = list(itertools.takewhile(bool, map(library.text, itertools.count())))
    opcodes = [text.decode().split(" ")[1] for text in texts]
    assert set(opcodes) == EXPECTED.keys()
    rows = [
        (p << 16 | q, q << 16 | r, x, y)
        for (p, q, r), (x, y) in zip(
            itertools.cycle(itertools.product(HALVES, HALVES, (0x3C01, 0xC2FF, 0x0203))),
            itertools.islice(itertools.product(FLOATS, FLOATS), 512),
            strict=False,
        )
    ]
    rows = [(a, b, nearest(x), nearest(y)) for a, b, x, y in rows]
    kinds = (ctypes.c_uint32, ctypes.c_uint32, ctypes.c_float, ctypes.c_float)
    arrays = [
        (kind * len(rows))(*column)
        for kind, column in zip(kinds, zip(*rows, strict=True), strict=True)
    ]
    out = (ctypes.c_uint64 * (len(rows) * len(texts)))()
    assert library.run(len(texts), len(rows), *arrays, out) == 0
    wrong = []
    for number, opcode in enumerate(opcodes):
        bits = 64 if opcode in ("cvt.f64.f32", "cvt.s64.s32") else 32
        for row, got in zip(rows, out[number * len(rows) :], strict=False):
            expected = EXPECTED[opcode](*row) & (1 << bits) - 1
            if not same(opcode, got, expected) and not (bits == 64 and math.isnan(row[2])):
                wrong.append((opcode, *map(hex, row[:2]), *row[2:], hex(got), hex(expected)))
                break
    assert not wrong
