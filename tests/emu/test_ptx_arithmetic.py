"""Every instruction of ptx_arithmetic.cu gives what Python computes from the PTX manual's words."""

from __future__ import annotations

import ctypes
import itertools
import math
import struct
from collections.abc import Callable
from fractions import Fraction

import pytest

pytestmark = pytest.mark.usefixtures("compiler")

WORDS = (0, 1, 2, 5, 31, 33, 0x3210, 0x12345678, 0x7FFFFFFF, 0x80000000, 0x89ABCDEF, 0xFFFFFFFF)
FLOATS = (0.0, -0.0, 1.0, -1.5, 3.1415927, 1e-3, -2.7e5, 1.1e-20, 7e20, 0.9999999, math.inf)

LARGEST = float.fromhex("0x1.fffffep127")


def s32(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


def u32(value: int) -> int:
    return value & 0xFFFFFFFF


def clamp(value: int) -> int:
    return u32(max(-(1 << 31), min((1 << 31) - 1, value)))


def quotient(a: int, b: int) -> int:
    """Towards zero; all ones for a division by zero."""
    if b == 0:
        return -1
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> int:
    return a - quotient(a, b) * b if b else a


def extract(a: int, position: int, length: int, *, signed: bool) -> int:
    position, length = position & 255, length & 255
    bits = [(a >> min(i, 31 if signed else 32)) & 1 for i in range(position, position + length)]
    bits = bits[:32]
    sign = bits[-1] if signed and bits else 0
    return sum(bit << i for i, bit in enumerate(bits + [sign] * (32 - len(bits))))


def shift_to_top(bits: int) -> int:
    return 32 - bits.bit_length() if bits else -1


def chosen(a: int, b: int, selectors: int) -> int:
    pool = (b << 32 | a).to_bytes(8, "little")
    picked = [selectors >> 4 * i & 15 for i in range(4)]
    parts = [(0xFF if pool[s & 7] >> 7 else 0) if s & 8 else pool[s & 7] for s in picked]
    return int.from_bytes(bytes(parts), "little")


def parts(word: int, code: str) -> tuple[int, ...]:
    return struct.unpack(f"<{4 // struct.calcsize(code)}{code}", struct.pack("<I", word))


def dot(a: tuple[int, ...], b: tuple[int, ...], c: int) -> int:
    return u32(sum(x * y for x, y in zip(a, b, strict=True)) + c)


INTEGER: dict[str, Callable[[int, int, int], int]] = {
    "add.u32 %0, %1, %2;": lambda a, b, c: a + b,
    "add.sat.s32 %0, %1, %2;": lambda a, b, c: clamp(s32(a) + s32(b)),
    "sub.s32 %0, %1, %2;": lambda a, b, c: a - b,
    "sub.sat.s32 %0, %1, %2;": lambda a, b, c: clamp(s32(a) - s32(b)),
    "mul.lo.u32 %0, %1, %2;": lambda a, b, c: a * b,
    "mul.hi.u32 %0, %1, %2;": lambda a, b, c: a * b >> 32,
    "mul.hi.s32 %0, %1, %2;": lambda a, b, c: s32(a) * s32(b) >> 32,
    "mul24.lo.u32 %0, %1, %2;": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF),
    "mad.lo.s32 %0, %1, %2, %3;": lambda a, b, c: a * b + c,
    "mad.hi.u32 %0, %1, %2, %3;": lambda a, b, c: (a * b >> 32) + c,
    "div.u32 %0, %1, %2;": lambda a, b, c: quotient(a, b),
    "div.s32 %0, %1, %2;": lambda a, b, c: quotient(s32(a), s32(b)),
    "rem.s32 %0, %1, %2;": lambda a, b, c: remainder(s32(a), s32(b)),
    "sad.s32 %0, %1, %2, %3;": lambda a, b, c: c + abs(s32(a) - s32(b)),
    "min.s32 %0, %1, %2;": lambda a, b, c: min(s32(a), s32(b)),
    "max.u32 %0, %1, %2;": lambda a, b, c: max(a, b),
    "abs.s32 %0, %1;": lambda a, b, c: abs(s32(a)),
    "neg.s32 %0, %1;": lambda a, b, c: -a,
    "and.b32 %0, %1, %2;": lambda a, b, c: a & b,
    "or.b32 %0, %1, %2;": lambda a, b, c: a | b,
    "xor.b32 %0, %1, %2;": lambda a, b, c: a ^ b,
    "not.b32 %0, %1;": lambda a, b, c: ~a,
    "cnot.b32 %0, %1;": lambda a, b, c: a == 0,
    "shl.b32 %0, %1, %2;": lambda a, b, c: a << min(b, 32),
    "shr.u32 %0, %1, %2;": lambda a, b, c: a >> min(b, 32),
    "shr.s32 %0, %1, %2;": lambda a, b, c: s32(a) >> min(b, 32),
    "shf.l.wrap.b32 %0, %1, %2, %3;": lambda a, b, c: (b << 32 | a) << (c & 31) >> 32,
    "shf.r.clamp.b32 %0, %1, %2, %3;": lambda a, b, c: (b << 32 | a) >> min(c, 32),
    "bfe.u32 %0, %1, %2, %3;": lambda a, b, c: extract(a, b, c, signed=False),
    "bfe.s32 %0, %1, %2, %3;": lambda a, b, c: extract(a, b, c, signed=True),
    "bfi.b32 %0, %1, %2, 5, 11;": lambda a, b, c: (b & ~(0x7FF << 5)) | (a & 0x7FF) << 5,
    "popc.b32 %0, %1;": lambda a, b, c: a.bit_count(),
    "clz.b32 %0, %1;": lambda a, b, c: 32 - a.bit_length(),
    "brev.b32 %0, %1;": lambda a, b, c: int(f"{a:032b}"[::-1], 2),
    "bfind.u32 %0, %1;": lambda a, b, c: a.bit_length() - 1,
    "bfind.shiftamt.s32 %0, %1;": lambda a, b, c: shift_to_top(u32(~a) if a >> 31 else a),
    "lop3.b32 %0, %1, %2, %3, 0x96;": lambda a, b, c: a ^ b ^ c,
    "lop3.b32 %0, %1, %2, %3, 0xca;": lambda a, b, c: (a & b) | (~a & c),
    "prmt.b32 %0, %1, %2, %3;": chosen,
    "prmt.b32.f4e %0, %1, %2, %3;": lambda a, b, c: (b << 32 | a) >> 8 * (c & 3),
    "prmt.b32.b4e %0, %1, %2, %3;": lambda a, b, c: chosen(
        a, b, (0x5670, 0x6701, 0x7012, 0x0123)[c & 3]
    ),
    "prmt.b32.rc8 %0, %1, %2, %3;": lambda a, b, c: chosen(a, b, 0x1111 * (c & 3)),
    "prmt.b32.ecl %0, %1, %2, %3;": lambda a, b, c: chosen(
        a, b, (0x3210, 0x3211, 0x3222, 0x3333)[c & 3]
    ),
    "prmt.b32.ecr %0, %1, %2, %3;": lambda a, b, c: chosen(
        a, b, (0x0000, 0x1110, 0x2210, 0x3210)[c & 3]
    ),
    "prmt.b32.rc16 %0, %1, %2, %3;": lambda a, b, c: chosen(a, b, (0x1010, 0x3232)[c & 1]),
    "bmsk.clamp.b32 %0, %1, %2;": lambda a, b, c: ((1 << min(b, 32)) - 1) << min(a, 32),
    "bmsk.wrap.b32 %0, %1, %2;": lambda a, b, c: ((1 << (b & 31)) - 1) << (a & 31),
    "dp4a.s32.s32 %0, %1, %2, %3;": lambda a, b, c: dot(parts(a, "b"), parts(b, "b"), c),
    "dp4a.u32.s32 %0, %1, %2, %3;": lambda a, b, c: dot(parts(a, "B"), parts(b, "b"), c),
    "dp2a.hi.s32.u32 %0, %1, %2, %3;": lambda a, b, c: dot(parts(a, "h"), parts(b, "B")[2:], c),
    "{ .reg .b32 t<2>; mov.b32 t0, %1; shl.b32 t1, t0, 3; sub.u32 %0, t1, t0; }": (
        lambda a, b, c: 7 * a
    ),
    "{ .reg .b16 lo, hi; mov.b32 {lo, hi}, %1; mov.b32 %0, {hi, lo}; }": (
        lambda a, b, c: a >> 16 | a << 16
    ),
    "set.lt.u32.s32 %0, %1, %2;": lambda a, b, c: -(s32(a) < s32(b)),
    "{ .reg .pred p; setp.ne.u32 p, %3, 0; selp.b32 %0, %1, %2, p; }": lambda a, b, c: (
        a if c else b
    ),
    "setp.lt.s32 p, %1, %2;": lambda a, b, c: s32(a) < s32(b),
    "setp.lo.u32 p, %1, %2;": lambda a, b, c: a < b,
    "setp.ge.u32 p, %1, %2;": lambda a, b, c: a >= b,
    "setp.eq.or.s32 p, %1, %2, q;": lambda a, b, c: a == b or c == 0,
    "setp.ne.and.s32 p, %1, %2, !q;": lambda a, b, c: a != b and c != 0,
    "setp.gt.s32 p|q, %1, %2; xor.pred p, p, q;": lambda a, b, c: 1,
    "mov.pred p, q; @!p setp.eq.s32 p, %1, %2;": lambda a, b, c: c == 0 or a == b,
}
WIDE: dict[str, Callable[[int, int], int]] = {
    "mul.wide.u32 %0, %1, %2;": lambda a, b: a * b,
    "mul.wide.s32 %0, %1, %2;": lambda a, b: s32(a) * s32(b),
}
LONG: dict[str, Callable[[int, int], int]] = {
    "add.u64 %0, %1, %2;": lambda a, b: a + b,
    "mul.hi.u64 %0, %1, %2;": lambda a, b: a * b >> 64,
    "xor.b64 %0, %1, %2;": lambda a, b: a ^ b,
}


def exactly(function: Callable[..., Fraction], rounding: str = "rn") -> Callable[..., float]:
    """Rounded once to a float; where an operand is infinite, what doubles give."""

    def rounded(*values: float) -> float:
        if not all(map(math.isfinite, values)):
            return nearest(function(*values))
        exact = function(*map(Fraction, values))
        return directed(exact, rounding) if exact else nearest(function(*values))

    return rounded


def nearest(value: float) -> float:
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def directed(exact: Fraction, rounding: str) -> float:
    """The neighbour of a non-zero fraction among the floats that a rounding asks for."""
    exponent = max(math.floor(math.log2(abs(exact))) - 25, -151)
    while abs(exact) / Fraction(2) ** exponent >= 1 << 24:
        exponent += 1
    unit = Fraction(2) ** max(exponent, -149)
    if abs(exact) > LARGEST and rounding in ("rz", "rm" if exact > 0 else "rp"):
        return math.copysign(LARGEST, exact)
    choose = {"rn": round, "rz": math.trunc, "rm": math.floor, "rp": math.ceil}[rounding]
    return nearest(float(choose(exact / unit) * unit))


def saturated(value: float) -> float:
    return max(0.0, min(1.0, value)) if value == value else 0.0  # noqa: PLR0124


def divide(x: float, y: float) -> float:
    return x / y


FLOAT: dict[str, Callable[[float, float, float], float]] = {
    "add.f32 %0, %1, %2;": exactly(lambda x, y, z: x + y),
    "add.rz.f32 %0, %1, %2;": exactly(lambda x, y, z: x + y, "rz"),
    "sub.rm.f32 %0, %1, %2;": exactly(lambda x, y, z: x - y, "rm"),
    "mul.rp.f32 %0, %1, %2;": exactly(lambda x, y, z: x * y, "rp"),
    "mul.sat.f32 %0, %1, %2;": lambda x, y, z: saturated(exactly(lambda p, q: p * q)(x, y)),
    "fma.rn.f32 %0, %1, %2, %3;": exactly(lambda x, y, z: x * y + z),
    "fma.rz.f32 %0, %1, %2, %3;": exactly(lambda x, y, z: x * y + z, "rz"),
    "mad.rn.f32 %0, %1, %2, %3;": exactly(lambda x, y, z: x * y + z),
    "div.rn.f32 %0, %1, %2;": exactly(lambda x, y, z: divide(x, y)),
    "min.f32 %0, %1, %2;": lambda x, y, z: min(x, y),
    "max.NaN.f32 %0, %1, %2;": lambda x, y, z: max(x, y),
    "abs.f32 %0, %1;": lambda x, y, z: abs(x),
    "neg.f32 %0, %1;": lambda x, y, z: -x,
    "copysign.f32 %0, %1, %2;": lambda x, y, z: math.copysign(y, x),
    "sqrt.rn.f32 %0, %1;": lambda x, y, z: nearest(math.sqrt(x)),
    "rcp.rn.f32 %0, %1;": lambda x, y, z: nearest(1 / x),
    "ex2.approx.ftz.f32 %0, %1;": lambda x, y, z: 2**x,
    "lg2.approx.f32 %0, %1;": lambda x, y, z: math.log2(x),
    "rsqrt.approx.f32 %0, %1;": lambda x, y, z: 1 / math.sqrt(x),
    "tanh.approx.f32 %0, %1;": lambda x, y, z: math.tanh(x),
    "sin.approx.f32 %0, %1;": lambda x, y, z: math.sin(x),
    "cos.approx.f32 %0, %1;": lambda x, y, z: math.cos(x),
    "mul.f32 %0, %1, 0f3FC00000;": exactly(lambda x, y, z: x * Fraction(3, 2)),
    "add.f32 %0, %1, 0.5;": exactly(lambda x, y, z: x + Fraction(1, 2)),
}
COMPARISON: dict[str, Callable[[float, float], bool]] = {
    "setp.ltu.f32 p, %1, %2;": lambda x, y: x < y,
    "setp.ne.f32 p, %1, %2;": lambda x, y: x != y,
    "testp.finite.f32 p, %1;": lambda x, y: math.isfinite(x),
}


@pytest.fixture(scope="module")
def inputs() -> dict[str, list]:
    words = list(itertools.product(WORDS, WORDS, (0, 3, 0x10E7, 0xFFFFFFFE)))
    floats = [tuple(map(nearest, t)) for t in itertools.product(FLOATS, FLOATS, (0.5, -3e-4, 1e12))]
    count = 512  # of one block; the rest repeats
    words = list(itertools.islice(itertools.cycle(words), count))
    floats = list(itertools.islice(itertools.cycle(floats), count))
    return {"words": words, "floats": floats}


@pytest.fixture
def results(emulate, inputs) -> dict[tuple[str, str], list[int]]:
    """(kind, text) -> what each thread computed."""
    library = emulate("ptx_arithmetic.cu")
    library.text.restype = ctypes.c_char_p
    names = [tuple(t.decode().split(" ", 1)) for t in iter_texts(library)]
    columns = [*zip(*inputs["words"], strict=True), *zip(*inputs["floats"], strict=True)]
    count = len(columns[0])
    kinds = [ctypes.c_uint32] * 3 + [ctypes.c_float] * 3
    arrays = [(kind * count)(*column) for kind, column in zip(kinds, columns, strict=True)]
    out = (ctypes.c_uint64 * (count * len(names)))()
    assert library.run(len(names), count, *arrays, out) == 0
    return {name: out[i * count : (i + 1) * count] for i, name in enumerate(names)}


def iter_texts(library: ctypes.CDLL) -> list[bytes]:
    return list(itertools.takewhile(bool, map(library.text, itertools.count())))


def same(got: float, expected: float, tolerance: float) -> bool:
    if math.isnan(expected) or math.isnan(got):
        return math.isnan(expected) == math.isnan(got)
    return got == expected or (
        tolerance > 0 and math.isclose(got, expected, rel_tol=tolerance, abs_tol=1e-6)
    )


def expected_float(text: str, values: tuple[float, ...]) -> float | None:
    """None where Python has no answer: a division by zero, the square root of less."""
    try:
        return FLOAT[text](*values)
    except (ZeroDivisionError, ValueError, OverflowError):
        return None


def right(kind: str, text: str, word: tuple, floats: tuple, got: int) -> bool:
    a, b, c = word
    if kind[0] in "FA":  # A: an approximation
        expected = expected_float(text, floats)
        number = struct.unpack("<f", struct.pack("<I", got))[0]
        return expected is None or same(number, expected, 1e-6 if kind[0] == "A" else 0)
    if kind == "G2":
        return got == COMPARISON[text](*floats[:2])
    if kind == "W2":
        return got == WIDE[text](a, b) & (1 << 64) - 1
    if kind == "L2":
        return got == LONG[text](a << 32 | b, b << 32 | c) & (1 << 64) - 1
    return got == u32(INTEGER[text](a, b, c))


def test_instructions_compute_what_the_manual_says(results, inputs) -> None:
    rows = list(zip(inputs["words"], inputs["floats"], strict=True))
    wrong = [
        (text, word, floats, hex(value))
        for (kind, text), got in results.items()
        for (word, floats), value in zip(rows, got, strict=True)
        if not right(kind, text, word, floats, value)
    ]
    assert not wrong[:5]


def test_every_instruction_of_the_fixture_is_one_of_the_table(results) -> None:
    known = {*INTEGER, *WIDE, *LONG, *FLOAT, *COMPARISON}
    assert {text for _, text in results} == known
