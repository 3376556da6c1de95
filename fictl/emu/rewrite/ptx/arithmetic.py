"""Translations of integer, bit and float arithmetic, comparison and selection."""

from __future__ import annotations

from fictl.emu.rewrite.ptx.instruction import ROUNDINGS, Instruction, emulates
from fictl.emu.rewrite.ptx.operands import TYPES, NotEmulated, P, halves

_FLOATS = ("f16", "bf16", "f16x2", "bf16x2", "f32", "f64")
_ROUNDED = ("add", "sub", "mul", "div", "fma", "sqrt", "rcp")
_OPERANDS = {
    **dict.fromkeys(("add", "sub", "mul", "div", "rem", "copysign", "and", "or", "xor"), 2),
    **dict.fromkeys(("fma", "sad"), 3),
    **dict.fromkeys(
        ("sqrt", "rcp", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh", "abs", "neg", "not", "cnot"), 1
    ),
}
_KEYWORDS = ("and", "or", "xor", "not")


def _call(i: Instruction, function: str, type_: str, count: int) -> str:
    values = ", ".join(i.get(index, type_) for index in range(1, count + 1))
    return f"{P}{function}({values})"


def _clamped(i: Instruction, value: str) -> str:
    if i.take("relu"):
        value = f"{P}relu({value})"
    return f"{P}saturate({value})" if i.take("sat") else value


@emulates(*_OPERANDS)
def elementwise(i: Instruction) -> str:
    type_, count = i.type(), _OPERANDS[i.name]
    function = f"{i.name}_" if i.name in _KEYWORDS else i.name
    if type_ in _FLOATS:
        function += _rounding(i, type_)
        value = _clamped(i, _call(i, function, type_, count))
    elif type_ == "s32" and i.take("sat"):
        value = _call(i, f"{function}_sat", type_, count)
    elif i.name == "mul":
        return product(i, type_, 2)
    else:
        value = _call(i, function, type_, count)
    i.done(count + 1)
    return i.set(0, value)


def _rounding(i: Instruction, type_: str) -> str:
    rounding = i.rounding()
    i.ignore("ftz", "approx", "full", "noftz")
    if rounding in (None, "rn"):
        return ""
    if i.name not in _ROUNDED or type_ not in ("f32", "f64"):
        raise NotEmulated(f".{rounding}")
    return f"<{P}Rounding::{ROUNDINGS[rounding or '']}>"


@emulates("mad")
def multiply_add(i: Instruction) -> str:
    type_ = i.type()
    if type_ in _FLOATS:
        value = _clamped(i, _call(i, "fma" + _rounding(i, type_), type_, 3))
        i.done(4)
        return i.set(0, value)
    return product(i, type_, 3)


@emulates("mul24")
def product_of_24_bits(i: Instruction) -> str:
    type_ = i.type()
    i.take("lo")
    i.done(3)
    return i.set(0, _call(i, "mul24_lo", type_, 2))


def product(i: Instruction, type_: str, count: int) -> str:
    """Multiply (`count` 2) or multiply-add (3): lower half, upper half or wide product."""
    which = i.take("lo", "hi", "wide")
    if which is None:
        raise NotEmulated(f"{i.name}.{type_}")
    i.done(count + 1)
    if count == 2:
        return i.set(0, _call(i, "mul" if which == "lo" else f"mul_{which}", type_, 2))
    wide = f"{type_[0]}{2 * int(type_[1:])}" if which == "wide" else type_
    values = f"{i.get(1, type_)}, {i.get(2, type_)}, {i.get(3, wide)}"
    return i.set(0, f"{P}mad_{which}({values})")


@emulates("min", "max")
def extreme(i: Instruction) -> str:
    type_ = i.type()
    i.ignore("ftz")
    function = i.name + ("_nan" if i.take("NaN") else "")
    value = _call(i, function, type_, 2)
    if len(i.operands) == 4:
        value = f"{P}{function}({value}, {i.get(3, type_)})"
    value = _clamped(i, value)
    i.done(3, 4)
    return i.set(0, value)


@emulates("shl", "shr")
def shift(i: Instruction) -> str:
    type_ = i.type()
    i.done(3)
    return i.set(0, f"{P}{i.name}({i.get(1, type_)}, {i.get(2, 'u32')})")


@emulates("shf")
def funnel_shift(i: Instruction) -> str:
    i.type()
    side, overflow = i.take("l", "r"), i.take("wrap", "clamp")
    i.done(4)
    return i.set(0, _call(i, f"shf_{side}_{overflow}", "b32", 3))


@emulates("popc", "clz", "brev", "bfind", "bfind.shiftamt")
def bits(i: Instruction) -> str:
    type_ = i.type()
    i.done(2)
    return i.set(0, _call(i, i.name.replace(".", "_"), type_, 1))


@emulates("bfe")
def extract(i: Instruction) -> str:
    type_ = i.type()
    i.done(4)
    return i.set(0, f"{P}bfe({i.get(1, type_)}, {i.get(2, 'u32')}, {i.get(3, 'u32')})")


@emulates("bfi")
def insert(i: Instruction) -> str:
    type_ = i.type()
    i.done(5)
    values = f"{i.get(1, type_)}, {i.get(2, type_)}, {i.get(3, 'u32')}, {i.get(4, 'u32')}"
    return i.set(0, f"{P}bfi({values})")


@emulates("bmsk.clamp", "bmsk.wrap")
def mask(i: Instruction) -> str:
    type_ = i.type()
    i.done(3)
    return i.set(0, _call(i, i.name.replace(".", "_"), type_, 2))


@emulates("lop3")
def logic(i: Instruction) -> str:
    i.type()
    i.done(5)
    return i.set(0, _call(i, "lop3", "b32", 4))


@emulates("prmt", "prmt.b32")
def permute(i: Instruction) -> str:
    i.ignore("b32")
    mode = i.take("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
    i.done(4)
    return i.set(0, _call(i, f"prmt_{mode}" if mode else "prmt", "b32", 3))


@emulates("dp4a", "dp2a")
def dot_product(i: Instruction) -> str:
    half = {None: "", "lo": "0, ", "hi": "2, "}[i.take("lo", "hi")]
    b_type, a_type = i.type(), i.type()
    i.done(4)
    signed = "s32" if "s32" in (a_type, b_type) else "u32"
    kinds = ", ".join("int8_t" if type_ == "s32" else "uint8_t" for type_ in (a_type, b_type))
    values = f"{i.get(1, 'b32')}, {i.get(2, 'b32')}, {i.get(3, signed)}"
    return i.set(0, f"{P}{i.name}<{half}{kinds}>({values})")


# ---- comparison and selection ----

_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_COMPARISONS = (
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "lo",
    "ls",
    "hi",
    "hs",
    "equ",
    "neu",
    "ltu",
    "leu",
    "gtu",
    "geu",
    "num",
    "nan",
)
_COMBINED = {"and": "&", "or": "|", "xor": "^"}


@emulates("setp")
def set_predicate(i: Instruction) -> str:
    """Translate setp: p = comparison, q = its opposite, both optionally combined with a third."""
    type_ = i.type()
    comparison, combine = i.take(*_COMPARISONS), i.take(*_COMBINED)
    i.ignore("ftz")
    i.done(4 if combine else 3)
    first, second = halves(i.operand(0))
    if type_.endswith("x2"):
        results = [_compare(i, comparison, type_, half) for half in (".low", ".high")]
    else:
        result = _compare(i, comparison, type_, "")
        results = [result, f"!{result}"]
    if combine:
        results = [f"({result} {_COMBINED[combine]} {i.value(3)})" for result in results]
    # Temporaries, because sources and destinations may be the same registers.
    return (
        f"{{ const bool fictl_emu_p = {results[0]}, fictl_emu_q = {results[1]}; "
        f"{i.assign(first, 'fictl_emu_p')} {i.assign(second, 'fictl_emu_q')} }}"
    )


def _compare(i: Instruction, comparison: str | None, type_: str, half: str) -> str:
    if comparison is None:
        raise NotEmulated(f"{i.name} without a comparison")
    function = _UNSIGNED.get(comparison, comparison)
    return f"{P}{function}({i.get(1, type_)}{half}, {i.get(2, type_)}{half})"


@emulates("set")
def set_number(i: Instruction) -> str:
    source, target = i.type(), i.type()
    comparison, combine = i.take(*_COMPARISONS), i.take(*_COMBINED)
    i.ignore("ftz")
    if source.endswith("x2") and source != target:
        raise NotEmulated(f".{target}.{source}")
    i.done(4 if combine else 3)
    given = f" {_COMBINED[combine]} {i.value(3)}" if combine else ""
    if not source.endswith("x2"):
        result = f"{_compare(i, comparison, source, '')}{given}"
        return i.set(0, f"{P}verdict<{TYPES[target]}>({result})")
    one = TYPES[source.removesuffix("x2")]
    both = ", ".join(
        f"{P}verdict<{one}>({_compare(i, comparison, source, half)}{given})"
        for half in (".low", ".high")
    )
    return i.set(0, f"{TYPES[source]}{{{both}}}")


@emulates("selp")
def select(i: Instruction) -> str:
    type_ = i.type()
    i.done(4)
    return i.set(0, f"{i.value(3)} ? {i.get(1, type_)} : {i.get(2, type_)}")


@emulates("testp")
def test(i: Instruction) -> str:
    type_ = i.type()
    kind = i.take("finite", "infinite", "number", "notanumber", "normal", "subnormal")
    i.done(2)
    return i.set(0, _call(i, str(kind), type_, 1))
