"""Translations of the instructions of a warpgroup: wgmma and setmaxnreg."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fictl.emu.rewrite.ptx.control import SITE
from fictl.emu.rewrite.ptx.instruction import Instruction, emulates
from fictl.emu.rewrite.ptx.operands import NotEmulated, P, vector
from fictl.emu.rewrite.ptx.syntax import Scope, Written
from fictl.emu.rewrite.ptx.warp import ELEMENTS

_PRODUCT = "wgmma.mma_async.sync.aligned"
_SHAPE = re.compile(r"m64n(\d+)k(\d+)")
_DEPTHS = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32}
_PAIRS = {
    "f32": ({"f16"}, {"bf16"}, {"tf32"}, {"e4m3", "e5m2"}),
    "f16": ({"f16"}, {"e4m3", "e5m2"}),
    "s32": ({"s8", "u8"},),
}
_ACCUMULATORS = {"f32": "kF32", "f16": "kF16", "s32": "kS32"}


def registers(scope: Scope) -> Iterator[str]:
    """Yield the registers that a product uses after the statement: accumulators and A."""
    for item in scope.items:
        if isinstance(item, Scope):
            yield from registers(item)
        elif isinstance(item, Written) and item.opcode.startswith(_PRODUCT):
            for operand in item.operands[:2]:
                yield from vector(operand) if operand.startswith("{") else ()


@emulates(_PRODUCT)
def multiply(i: Instruction) -> str:
    saturated = i.take("satfinite")
    if len(i.modifiers) != 4:
        raise NotEmulated("wgmma")
    shape, d, a, b = i.modifiers
    i.modifiers = []
    columns = _columns(shape, d, a, b)
    in_registers = i.operand(1).startswith("{")
    places, sources = i.parts(0), i.parts(1)
    if len(places) != columns // (4 if d == "f16" else 2) or (in_registers and len(sources) != 4):
        raise NotEmulated("wgmma")
    accumulator = _ACCUMULATORS[d] + ("Saturated" if saturated else "")
    fields = (
        f"{P}Element::{ELEMENTS[a]}",
        f"{P}Element::{ELEMENTS[b]}",
        f"{P}Accumulator::{accumulator}",
        str(columns),
        f"({i.value(3)}) != 0",
        *_immediates(i, a, in_registers),
        "0" if in_registers else i.get(1, "u64"),
        i.get(2, "u64"),
        "fictl_emu_d",
        "{" + ", ".join(_source(i, x) for x in sources) + "}" if in_registers else "{}",
    )
    if any(i.names.operand_number(place) is None for place in places):
        raise NotEmulated("wgmma with accumulators that are not operands of asm")
    held = ", ".join(f"{P}place({i.names.value(place)})" for place in places)
    return (
        f"{{ void* const fictl_emu_d[] = {{{held}}}; "
        f"{P}multiply_async({P}Wgmma{{{', '.join(fields)}}}); }}"
    )


def _source(i: Instruction, register: str) -> str:
    # One that is declared in the statement is gone after it: its value stays.
    is_own = i.names.operand_number(register) is None
    return f"{P}source({i.cast(register, 'b32') if is_own else i.names.value(register)})"


def _columns(shape: str, d: str, a: str, b: str) -> int:
    size = _SHAPE.fullmatch(shape)
    if size is None or not any({a, b} <= pair for pair in _PAIRS.get(d, ())):
        raise NotEmulated("wgmma")
    columns, depth = map(int, size.groups())
    if depth != _DEPTHS[a] or columns % 8 or not 8 <= columns <= 256:
        raise NotEmulated(f".{shape}")
    return columns


def _immediates(i: Instruction, a: str, in_registers: bool) -> tuple[str, str, str, str]:
    """Return the fields of Wgmma from `negates` to `b_transposed`."""
    is_integer, has_transposes = a in ("s8", "u8"), a in ("f16", "bf16")
    i.done(4 + (0 if is_integer else 2) + (2 - in_registers if has_transposes else 0))
    negates = "false" if is_integer else f"({i.value(4)}) * ({i.value(5)}) < 0"
    transposes = [f"({i.value(index)}) != 0" for index in range(6, len(i.operands))]
    first = transposes[0] if len(transposes) == 2 else "false"
    return negates, str(in_registers).lower(), first, transposes[-1] if transposes else "false"


@emulates("wgmma.fence.sync.aligned")
def fence(i: Instruction) -> str:
    i.done(0)
    return f"::fictl_emu_wgmma_fence({SITE});"


@emulates("wgmma.commit_group.sync.aligned")
def commit(i: Instruction) -> str:
    i.done(0)
    return f"::fictl_emu_wgmma_commit({SITE});"


@emulates("wgmma.wait_group.sync.aligned")
def wait(i: Instruction) -> str:
    i.done(1)
    return f"::fictl_emu_wgmma_wait({i.get(0, 's32')}, {SITE});"


@emulates("setmaxnreg")
def set_registers(i: Instruction) -> str:
    way = i.take("inc", "dec")
    i.ignore("sync", "aligned")
    if way is None or i.take("u32") is None:
        raise NotEmulated("setmaxnreg")
    i.done(1)
    return f"::fictl_emu_setmaxnreg({int(way == 'inc')}, {i.get(0, 's32')}, {SITE});"
