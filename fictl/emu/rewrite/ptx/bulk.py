"""Translations of bulk copies, of plain memory and of boxes of tensors."""

from __future__ import annotations

from fictl.emu.rewrite.ptx.instruction import Instruction, emulates
from fictl.emu.rewrite.ptx.operands import NotEmulated, vector

_RANKS = ("1d", "2d", "3d", "4d", "5d")
_SHARED = ("shared::cluster", "shared::cta")
_LOADS = (("shared::cluster", "global"), ("shared::cta", "global"))
_COMPLETES = "mbarrier::complete_tx::bytes"
_REDUCTIONS = {
    "add": "ADD",
    "min": "MIN",
    "max": "MAX",
    "and": "BIT_AND",
    "or": "BIT_OR",
    "xor": "BIT_XOR",
}
_ELEMENTS = {
    **{name: name.upper() for name in ("u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64")},
    "b32": "U32",
    "b64": "U64",
}
_WIDE, _NARROW = ("F32", "F64"), ("F16", "BF16")
# Element types that the hardware does not reduce in this way.
_UNREDUCED = {
    "add": (),
    **dict.fromkeys(("min", "max"), _WIDE),
    **dict.fromkeys(("and", "or", "xor"), _WIDE + _NARROW),
}


def _direction(i: Instruction) -> tuple[str, str]:
    """Remove and return the two state spaces, destination first."""
    spaces = (*_SHARED, "global")
    return i.take(*spaces) or "", i.take(*spaces) or ""


def _hinted(i: Instruction, count: int) -> None:
    """Check the number of operands, and drop the cache policy behind them."""
    if i.take("L2::cache_hint"):
        i.done(count + 1)
        i.operands = i.operands[:-1]
    i.done(count)


def _load(i: Instruction, operands: int) -> str:
    """Check the modifiers of a load; return the mask of its multicast, "0u" without."""
    if i.take(_COMPLETES) is None:
        raise NotEmulated(f"without {_COMPLETES}")
    multicast = i.take("multicast::cluster")
    _hinted(i, operands + (multicast is not None))
    return i.get(operands, "u16") if multicast else "0u"


@emulates("cp.async.bulk")
def copy(i: Instruction) -> str:
    direction = _direction(i)
    if direction == ("global", "shared::cta"):
        return _store(i, "FICTL_EMU_NO_REDUCTION", "0")
    if direction not in (*_LOADS, ("shared::cluster", "shared::cta")):
        raise NotEmulated(i.name)
    mask = _load(i, 4)
    to, source = i.address(0, direction[0]), i.address(1, direction[1])
    barrier = i.address(3, direction[0])
    return f"::fictl_emu_bulk_load({to}, {source}, {i.get(2, 'u32')}, {barrier}, {mask});"


def _store(i: Instruction, reduction: str, element: str) -> str:
    if i.take("bulk_group") is None:
        raise NotEmulated("without .bulk_group")
    _hinted(i, 3)
    addresses = f"{i.address(0, 'global')}, {i.address(1, 'shared')}"
    return f"::fictl_emu_bulk_store({addresses}, {i.get(2, 'u32')}, {reduction}, {element});"


@emulates("cp.reduce.async.bulk")
def reduce(i: Instruction) -> str:
    """Translate a reduction into global memory; into another block's is not emulated."""
    if _direction(i) != ("global", "shared::cta"):
        raise NotEmulated(f"{i.name} into shared memory")
    i.ignore("noftz")
    element, reduction = _ELEMENTS.get(i.take(*_ELEMENTS) or ""), i.take(*_REDUCTIONS)
    if element is None or reduction is None:
        raise NotEmulated(i.name)
    if element in _UNREDUCED[reduction]:
        raise NotEmulated(f".{reduction}.{element.lower()}")
    return _store(i, f"FICTL_EMU_{_REDUCTIONS[reduction]}", f"FICTL_EMU_{element}")


# ---- tensors ----


def _box(i: Instruction, index: int, rank: int) -> tuple[str, str]:
    """Split `[map, {c0, c1}]`; return the map's address, and C++ that declares the coordinates."""
    address, _, written = i.operand(index)[1:-1].partition(",")
    parts = vector(written.strip())
    if len(parts) != rank:
        raise NotEmulated(f"{len(parts)} coordinates of {rank}")
    values = ", ".join(i.cast(part, "s32") for part in parts)
    map_ = i.pointer(f"[{address.strip()}]", "generic")
    return map_, f"const int32_t fictl_emu_at[] = {{{values}}};"


def _rank(i: Instruction) -> int:
    rank = i.take(*_RANKS)
    if rank is None:
        raise NotEmulated(i.name)
    i.take("tile")
    return int(rank[0])


@emulates("cp.async.bulk.tensor")
def copy_tensor(i: Instruction) -> str:
    rank, direction = _rank(i), _direction(i)
    if direction == ("global", "shared::cta"):
        return _store_tensor(i, rank, "FICTL_EMU_NO_REDUCTION")
    if direction not in _LOADS:
        raise NotEmulated(i.name)
    mask = _load(i, 3)
    map_, coordinates = _box(i, 1, rank)
    to, barrier = i.address(0, direction[0]), i.address(2, direction[0])
    call = f"::fictl_emu_tensor_load({to}, {map_}, fictl_emu_at, {rank}, {barrier}, {mask});"
    return f"{{ {coordinates} {call} }}"


@emulates("cp.reduce.async.bulk.tensor")
def reduce_tensor(i: Instruction) -> str:
    rank, direction, reduction = _rank(i), _direction(i), i.take(*_REDUCTIONS)
    if direction != ("global", "shared::cta") or reduction is None:
        raise NotEmulated(i.name)
    return _store_tensor(i, rank, f"FICTL_EMU_{_REDUCTIONS[reduction]}")


def _store_tensor(i: Instruction, rank: int, reduction: str) -> str:
    if i.take("bulk_group") is None:
        raise NotEmulated("without .bulk_group")
    _hinted(i, 2)
    map_, coordinates = _box(i, 0, rank)
    source = i.address(1, "shared")
    call = f"::fictl_emu_tensor_store({map_}, fictl_emu_at, {rank}, {source}, {reduction});"
    return f"{{ {coordinates} {call} }}"


# ---- groups, hints ----


@emulates("cp.async.bulk.commit_group")
def commit(i: Instruction) -> str:
    i.done(0)
    return "::fictl_emu_bulk_commit();"


@emulates("cp.async.bulk.wait_group")
def wait(i: Instruction) -> str:
    reads = "1" if i.take("read") else "0"
    i.done(1)
    return f"::fictl_emu_bulk_wait({i.get(0, 'u32')}, {reads});"


@emulates("cp.async.bulk.prefetch", "cp.async.bulk.prefetch.tensor")
def prefetch(i: Instruction) -> str:
    """Emit nothing: there is no cache to fill."""
    return ""
