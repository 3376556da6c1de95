"""Translations of moves between registers and of type conversions."""

from __future__ import annotations

from fictl.emu.rewrite.ptx.instruction import ROUNDINGS, Instruction, emulates
from fictl.emu.rewrite.ptx.operands import TYPES, NotEmulated, P

_FLOATS = ("f16", "bf16", "tf32", "f32", "f64")


@emulates("mov")
def move(i: Instruction) -> str:
    type_ = i.type()
    i.done(2)
    if len(i.parts(0)) > 1:
        return _unpack(i, type_)
    if len(i.parts(1)) > 1:
        return _pack(i, type_)
    return i.set(0, i.get(1, type_))


def _part(type_: str, count: int) -> int:
    """Return the width of each of `count` registers that together form one of `type_`."""
    width, rest = divmod(int(type_[1:]), count)
    if rest or f"b{width}" not in TYPES:
        raise NotEmulated(f".{type_} of {count} registers")
    return width


def _pack(i: Instruction, type_: str) -> str:
    parts = i.parts(1)
    width = _part(type_, len(parts))
    whole = TYPES[f"b{type_[1:]}"]
    shifted = " | ".join(
        f"static_cast<{whole}>({i.cast(part, f'b{width}')}) << {width * index}"
        for index, part in enumerate(parts)
    )
    return i.set(0, f"static_cast<{whole}>({shifted})")


def _unpack(i: Instruction, type_: str) -> str:
    parts = i.parts(0)
    width = _part(type_, len(parts))
    assigned = " ".join(
        i.assign(part, f"static_cast<{TYPES[f'b{width}']}>(fictl_emu_v >> {width * index})")
        for index, part in enumerate(parts)
    )
    return f"{{ const auto fictl_emu_v = {i.get(1, f'b{type_[1:]}')}; {assigned} }}"


@emulates("cvt")
def convert(i: Instruction) -> str:
    source, target = i.type(), i.type()
    asked = i.rounding()
    rounding = f"{P}Rounding::{ROUNDINGS[asked or 'rn']}"
    finite, saturated, relu = i.take("satfinite"), i.take("sat"), i.take("relu")
    i.ignore("ftz")
    if target.endswith("x2"):
        value = _pair(i, target, source, f"{rounding}, {'true' if finite else 'false'}")
    else:
        i.done(2)
        value = f"({i.get(1, source)})"
        if finite and target in _FLOATS:
            value = f"{P}convert_finite<{TYPES[target]}, {rounding}>{value}"
        elif saturated and target not in _FLOATS and source not in _FLOATS:
            value = f"{P}cut<{TYPES[target]}>{value}"
        else:
            integral = ", true" if target in _FLOATS and str(asked).endswith("i") else ""
            value = f"{P}convert<{TYPES[target]}, {rounding}{integral}>{value}"
    if relu:
        value = f"{P}relu({value})"
    if saturated and target in _FLOATS:
        value = f"{P}saturate({value})"
    return i.set(0, value)


def _pair(i: Instruction, target: str, source: str, how: str) -> str:
    i.done(2 if source.endswith("x2") else 3)
    values = ", ".join(i.get(index, source) for index in range(1, len(i.operands)))
    return f"{P}convert_pair<{TYPES[target].partition('<')[2][:-1]}, {how}>({values})"


@emulates("cvta")
def convert_address(i: Instruction) -> str:
    i.type()
    to_space = i.take("to")
    space = i.take("shared", "shared::cta", "shared::cluster", "global", "local", "const", "param")
    i.done(2)
    if space is None or not space.startswith("shared"):
        return i.set(0, i.get(1, "u64"))
    which = "cluster" if space == "shared::cluster" else "shared"
    if to_space:
        return i.set(0, f"{P}{which}_offset({i.get(1, 'u64')})")
    return i.set(0, f"reinterpret_cast<uintptr_t>({P}{which}_address({i.get(1, 'u64')}))")
