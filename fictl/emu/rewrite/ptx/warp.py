"""Translations of collective instructions: shuffles, votes, matrices, barriers."""

from __future__ import annotations

from fictl.emu.rewrite.ptx.instruction import Instruction, emulates
from fictl.emu.rewrite.ptx.operands import TYPES, NotEmulated, P, halves

_SHUFFLES = {"up": "kUp", "down": "kDown", "bfly": "kXor", "idx": "kIndex"}


def _with_predicate(i: Instruction, call: str) -> str:
    """Assign the results to `d|p`: the call returns d and sets p."""
    value, predicate = halves(i.operand(0))
    return f"{{ bool fictl_emu_p; {i.assign(value, call)} {i.assign(predicate, 'fictl_emu_p')} }}"


@emulates("shfl.sync")
def shuffle(i: Instruction) -> str:
    i.type()
    how = i.take(*_SHUFFLES)
    i.done(5)
    values = ", ".join(i.get(index, "b32") for index in range(1, 5))
    return _with_predicate(
        i, f"{P}shuffle<{P}Shuffling::{_SHUFFLES[str(how)]}>({values}, fictl_emu_p)"
    )


@emulates("vote")
def vote(i: Instruction) -> str:
    i.type()
    if i.take("sync") is None:
        raise NotEmulated("vote without .sync")
    how = i.take("all", "any", "uni", "ballot")
    i.done(3)
    function = "ballot" if how == "ballot" else f"vote_{how}"
    return i.set(0, f"{P}{function}({i.value(1)}, {i.get(2, 'b32')})")


@emulates("match")
def match(i: Instruction) -> str:
    type_, how = i.type(), i.take("any", "all")
    i.ignore("sync")
    i.done(3)
    values = f"{i.get(1, type_)}, {i.get(2, 'b32')}"
    if how == "any":
        return i.set(0, f"{P}match_any({values})")
    return _with_predicate(i, f"{P}match_all({values}, fictl_emu_p)")


@emulates("redux.sync")
def reduce(i: Instruction) -> str:
    type_ = i.type()
    operation = i.take("add", "min", "max", "and", "or", "xor")
    i.done(3)
    function = f"{operation}_" if operation in ("and", "or", "xor") else operation
    cpp = TYPES[type_]
    combine = f"[]({cpp} a, {cpp} b) {{ return {P}{function}(a, b); }}"
    return i.set(0, f"{P}reduce<{cpp}>({i.get(1, type_)}, {i.get(2, 'b32')}, {combine})")


@emulates("elect.sync")
def elect(i: Instruction) -> str:
    i.done(2)
    return _with_predicate(i, f"{P}elect({i.get(1, 'b32')}, fictl_emu_p)")


@emulates("activemask.b32")
def active_mask(i: Instruction) -> str:
    i.done(1)
    return i.set(0, "::fictl_emu_activemask(__builtin_FILE(), __builtin_LINE())")


# ---- barriers ----

_BARRIERS = ("bar", "barrier", "bar.cta", "barrier.cta")


@emulates("bar.warp.sync")
def warp_barrier(i: Instruction) -> str:
    i.done(1)
    return f"{P}warp_barrier({i.get(0, 'b32')});"


def _barrier_function(i: Instruction) -> str:
    """Return `bar` for the forms that whole warps come to, `barrier` for those of threads."""
    return "bar" if i.take("aligned") or i.name.startswith("bar.") else "barrier"


@emulates(*(f"{name}.sync" for name in _BARRIERS))
def barrier(i: Instruction) -> str:
    function = _barrier_function(i)
    i.done(1, 2)
    return f"{P}{function}({', '.join(i.get(index, 'u32') for index in range(len(i.operands)))});"


@emulates(*(f"{name}.arrive" for name in _BARRIERS))
def arrive(i: Instruction) -> str:
    function = _barrier_function(i)
    i.done(2)
    return f"{P}{function}_arrive({i.get(0, 'u32')}, {i.get(1, 'u32')});"


@emulates(*(f"{name}.red" for name in _BARRIERS))
def barrier_vote(i: Instruction) -> str:
    i.ignore("aligned")
    i.type()
    how = {"popc": "COUNT", "and": "AND", "or": "OR"}[str(i.take("popc", "and", "or"))]
    i.done(3)
    return i.set(0, f"{P}barrier_vote(FICTL_EMU_{how}, {i.get(1, 'u32')}, {i.value(2)})")


# ---- matrices ----

ELEMENTS = {
    "f16": "kF16",
    "bf16": "kBF16",
    "tf32": "kTF32",
    "s8": "kS8",
    "u8": "kU8",
    "s4": "kS4",
    "u4": "kU4",
    "e4m3": "kE4M3",
    "e5m2": "kE5M2",
}
_WIDTHS = {"tf32": 32, "f16": 16, "bf16": 16, "s4": 4, "u4": 4}


@emulates("mma.sync.aligned")
def multiply(i: Instruction) -> str:
    """Translate mma for m16n8kK: the only shapes for these types from Ampere on."""
    shape = next((word for word in i.modifiers if word.startswith("m16n8k")), None)
    i.ignore(str(shape), "row", "col")
    saturated = i.take("satfinite")
    i.ignore("kind::f8f6f4")
    if shape is None or len(i.modifiers) != 4:
        raise NotEmulated("mma")
    d, a, b, c = i.modifiers
    i.modifiers = []
    if c != d or a not in ELEMENTS or b not in ELEMENTS:
        raise NotEmulated("mma")
    i.done(4)
    depth, registers = int(shape.removeprefix("m16n8k")), 2 if d == "f16" else 4
    words_of_a = depth * _WIDTHS.get(a, 8) // 64
    counts = (registers, words_of_a, words_of_a // 2, registers)
    parts = [i.parts(index) for index in range(4)]
    if tuple(map(len, parts)) != counts:
        raise NotEmulated("mma")
    sources = ", ".join(
        "{" + ", ".join(i.cast(part, "b32") for part in parts[index]) + "}" for index in (1, 2, 3)
    )
    accumulator = {"f32": "kF32", "f16": "kF16", "s32": "kS32"}[d]
    accumulator += "Saturated" if saturated and d == "s32" else ""
    kind = (
        f"{P}Element::{ELEMENTS[a]}, {P}Element::{ELEMENTS[b]}, "
        f"{P}Accumulator::{accumulator}, {depth}"
    )
    results = " ".join(
        i.assign(part, f"fictl_emu_m.d[{index}]") for index, part in enumerate(parts[0])
    )
    return f"{{ {P}Mma fictl_emu_m = {{{kind}, {sources}}}; {P}multiply(fictl_emu_m); {results} }}"


def _matrices(i: Instruction) -> tuple[int, str, str]:
    """Return the number of matrices, whether they are transposed, and the state space."""
    if i.take("m8n8") is None or i.take("b16") is None:
        raise NotEmulated(i.name)
    count = int(str(i.take("x1", "x2", "x4")).removeprefix("x"))
    transposed = "true" if i.take("trans") else "false"
    space = i.take("shared", "shared::cta") or "generic"
    i.done(2)
    return count, transposed, space


@emulates("ldmatrix.sync.aligned")
def load_matrices(i: Instruction) -> str:
    count, transposed, space = _matrices(i)
    results = " ".join(
        i.assign(part, f"fictl_emu_m.shares[{index}]") for index, part in enumerate(i.parts(0))
    )
    return (
        f"{{ {P}Matrices fictl_emu_m = {{{{}}, {{}}, {count}, {transposed}}}; "
        f"{P}load_matrices(fictl_emu_m, {i.address(1, space)}); {results} }}"
    )


@emulates("stmatrix.sync.aligned")
def store_matrices(i: Instruction) -> str:
    count, transposed, space = _matrices(i)
    shares = ", ".join(i.cast(part, "b32") for part in i.parts(1))
    return (
        f"{{ {P}Matrices fictl_emu_m = {{{{}}, {{{shares}}}, {count}, {transposed}}}; "
        f"{P}store_matrices(fictl_emu_m, {i.address(0, space)}); }}"
    )


@emulates("movmatrix.sync.aligned.m8n8.trans.b16")
def transpose(i: Instruction) -> str:
    i.done(2)
    return i.set(0, f"{P}transpose({i.get(1, 'b32')})")
