"""Integer intrinsics, bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

U32 = 2**32 - 1
EDGES = [0, 1, 2, 31, 32, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, U32]
Operation = Callable[..., int]


def signed(value: int, bits: int) -> int:
    value &= 2**bits - 1
    return value - 2**bits if value >> (bits - 1) else value


class Wide(int):
    """A result of 64 bits."""


def elements(value: int, bits: int, negative: bool) -> list[int]:
    pieces = [value >> at & 2**bits - 1 for at in range(0, 32, bits)]
    return [signed(piece, bits) if negative else piece for piece in pieces]


def packed(pieces: list[int], bits: int) -> int:
    return sum((piece & 2**bits - 1) << bits * i for i, piece in enumerate(pieces))


def each(bits: int, negative: bool, operation: Operation) -> Operation:
    def apply(*operands: int) -> int:
        columns = zip(*(elements(operand, bits, negative) for operand in operands), strict=True)
        return packed([operation(*column) for column in columns], bits)

    return apply


def total(bits: int, negative: bool, operation: Operation) -> Operation:
    def apply(a: int, b: int) -> int:
        return sum(map(operation, elements(a, bits, negative), elements(b, bits, negative)))

    return apply


def clamp(bits: int, negative: bool, operation: Operation) -> Operation:
    least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if negative else (0, 2**bits - 1)
    return lambda *operands: max(least, min(most, operation(*operands)))


def away_from_zero(a: int, b: int) -> int:
    half = (a + b) / 2
    return math.floor(half + 0.5) if half >= 0 else math.ceil(half - 0.5)


COMPARISONS: dict[str, Operation] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "ge": lambda a, b: a >= b,
    "gt": lambda a, b: a > b,
    "le": lambda a, b: a <= b,
    "lt": lambda a, b: a < b,
}


def simd(width: int) -> dict[str, Operation]:
    """The functions on 2 halfwords or 4 bytes."""
    bits = 32 // width
    operations: dict[str, tuple[bool, Operation]] = {
        "vabs": (True, abs),
        "vabsss": (True, clamp(bits, True, abs)),
        "vneg": (True, int.__neg__),
        "vnegss": (True, clamp(bits, True, int.__neg__)),
        "vadd": (True, int.__add__),
        "vaddss": (True, clamp(bits, True, int.__add__)),
        "vaddus": (False, clamp(bits, False, int.__add__)),
        "vsub": (True, int.__sub__),
        "vsubss": (True, clamp(bits, True, int.__sub__)),
        "vsubus": (False, clamp(bits, False, int.__sub__)),
        "vavgs": (True, away_from_zero),
        "vavgu": (False, lambda a, b: (a + b + 1) // 2),
        "vhaddu": (False, lambda a, b: (a + b) // 2),
        "vabsdiffs": (True, lambda a, b: abs(a - b)),
        "vabsdiffu": (False, lambda a, b: abs(a - b)),
        "vmaxs": (True, max),
        "vmaxu": (False, max),
        "vmins": (True, min),
        "vminu": (False, min),
    }
    for relation, holds in COMPARISONS.items():
        for suffix, negative in (("s", True), ("u", False)):
            sign = suffix if relation not in ("eq", "ne") else ""
            operations[f"vcmp{relation}{sign}"] = (negative, lambda a, b, holds=holds: -holds(a, b))
            operations[f"vset{relation}{sign}"] = (negative, lambda a, b, holds=holds: +holds(a, b))
    functions = {
        f"__{name}{width}": each(bits, negative, operation)
        for name, (negative, operation) in operations.items()
    }
    functions[f"__vsads{width}"] = total(bits, True, lambda a, b: abs(a - b))
    functions[f"__vsadu{width}"] = total(bits, False, lambda a, b: abs(a - b))
    return functions


def dpx() -> dict[str, Operation]:
    def pairs(negative: bool, operation: Operation) -> Operation:
        return each(16, negative, operation)

    return {
        "__vimax3_s32": max,
        "__vimin3_u32": min,
        "__vimax3_s16x2": pairs(True, max),
        "__vimin3_u16x2": pairs(False, min),
        "__viaddmax_s32": lambda a, b, c: max(signed(a + b, 32), c),
        "__viaddmin_u32": lambda a, b, c: min(a + b & U32, c),
        "__viaddmax_s16x2": pairs(True, lambda a, b, c: max(signed(a + b, 16), c)),
        "__vimax_s32_relu": lambda a, b: max(a, b, 0),
        "__vimin_s16x2_relu": pairs(True, lambda a, b: max(min(a, b), 0)),
        "__vimin3_s32_relu": lambda a, b, c: max(min(a, b, c), 0),
        "__viaddmax_s16x2_relu": pairs(True, lambda a, b, c: max(signed(a + b, 16), c, 0)),
    }


def lowest(x: int) -> int:
    return (x & -x).bit_length()


def permuted(x: int, y: int, selector: int) -> int:
    pieces = [(y << 32 | x) >> 8 * i & 0xFF for i in range(8)]
    choices = [selector >> 4 * i & 0xF for i in range(4)]
    chosen = [0xFF * (pieces[c & 7] >> 7) if c & 8 else pieces[c & 7] for c in choices]
    return packed(chosen, 8)


def found(mask: int, base: int, offset: int) -> int:
    places = range(base, 32) if offset >= 0 else range(base, -1, -1)
    if offset == 0:
        return base if mask >> base & 1 else U32
    bits = [place for place in places if mask >> place & 1]
    return bits[abs(offset) - 1] if len(bits) >= abs(offset) else U32


def dot(first: int, wide: int) -> Operation:
    """Of the bytes of b from `first` on with the elements of a; signed as the result is."""

    def apply(a: int, b: int, c: int) -> int:
        negative = min(a, b, c) < 0 or isinstance(c, Signed)
        left = elements(a, 8 * wide, negative)
        right = elements(b, 8, negative)[first:]
        return c + sum(x * y for x, y in zip(left, right, strict=False))

    return apply


class Signed(int):
    """What the kernel has as int."""


def s32(value: int) -> int:
    return Signed(signed(value, 32))


def mul24(x: int, y: int) -> int:
    return signed(x, 24) * signed(y, 24)


REFERENCES: dict[str, object] = {
    "S": s32,
    "wide": lambda high, low: Wide(signed(high << 32 | low, 64)),
    "uwide": lambda high, low: Wide(high << 32 | low),
    "__popc": int.bit_count,
    "__popcll": int.bit_count,
    "__clz": lambda x: 32 - (x & U32).bit_length(),
    "__clzll": lambda x: 64 - (x & 2**64 - 1).bit_length(),
    "__ffs": lowest,
    "__ffsll": lowest,
    "__brev": lambda x: int(f"{x:032b}"[::-1], 2),
    "__brevll": lambda x: Wide(int(f"{x:064b}"[::-1], 2)),
    "__byte_perm": permuted,
    "__fns": found,
    "__funnelshift_l": lambda low, high, shift: (high << 32 | low) << shift % 32 >> 32,
    "__funnelshift_r": lambda low, high, shift: (high << 32 | low) >> shift % 32,
    "__funnelshift_lc": lambda low, high, shift: (high << 32 | low) << min(shift, 32) >> 32,
    "__funnelshift_rc": lambda low, high, shift: (high << 32 | low) >> min(shift, 32),
    "__mulhi": lambda x, y: x * y >> 32,
    "__umulhi": lambda x, y: x * y >> 32,
    "__mul64hi": lambda x, y: Wide(x * y >> 64),
    "__umul64hi": lambda x, y: Wide(x * y >> 64),
    "__mul24": mul24,
    "__umul24": lambda x, y: (x & 0xFFFFFF) * (y & 0xFFFFFF),
    "__dp4a": dot(0, 1),
    "__dp2a_lo": dot(0, 2),
    "__dp2a_hi": dot(2, 2),
    "__hadd": lambda x, y: (x + y) // 2,
    "__rhadd": lambda x, y: (x + y + 1) // 2,
    "__uhadd": lambda x, y: (x + y) // 2,
    "__urhadd": lambda x, y: (x + y + 1) // 2,
    "__sad": lambda x, y, z: abs(x - y) + z,
    "__usad": lambda x, y, z: abs(x - y) + z,
    "min": lambda x, y: min(*common(x, y)),
    "max": lambda x, y: max(*common(x, y)),
    **simd(2),
    **simd(4),
    **dpx(),
}


def common(x: int, y: int) -> tuple[int, int]:
    """int and unsigned meet as unsigned."""
    if isinstance(x, Signed) == isinstance(y, Signed):
        return x, y
    return x & U32, y & U32


def same_bits(word: int, expected: int) -> bool:
    bits = 64 if isinstance(expected, Wide) else 32
    return word == expected & 2**bits - 1


def numbers(seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    edges = torch.tensor(EDGES)[torch.randint(len(EDGES), (100,), generator=generator)]
    return torch.cat([edges, torch.randint(2**32, (157,), generator=generator)]).to(torch.uint32)


def test_every_integer_intrinsic_is_exact(agree) -> None:
    tensors = (numbers(1), numbers(2), numbers(3))
    agree("surface_integer.cu", "integers", tensors, REFERENCES, same_bits)
