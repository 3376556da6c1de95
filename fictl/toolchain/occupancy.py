"""Occupancy: the number of blocks of a kernel that an SM holds at once, and what limits it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

WARP = 32
# Of compute capability 7.x to 12.x: registers are given to a warp in such pieces, and an SM's four
# parts have a quarter of them each.
_REGISTER_PIECE = 256
_PARTS = 4
_SHARED_PIECE = 128


@dataclass(frozen=True)
class SmLimits:
    """Limits of one SM; `reserved_shared` bytes of every block's shared memory are the system's.

    Shared memory is given in pieces; `barriers` are those for named ones, 0 where they do not count.
    """

    threads: int
    blocks: int
    registers: int
    shared: int
    reserved_shared: int
    shared_piece: int = _SHARED_PIECE
    barriers: int = 0


@dataclass(frozen=True)
class Occupancy:
    """`share` is of the warps that an SM can hold; `limits` are what the number of blocks is due to."""

    blocks: int
    share: float
    limits: tuple[str, ...]


def occupancy(
    limits: SmLimits, threads: int, registers: int, shared: int, barriers: int = 0
) -> Occupancy:
    """Occupancy of a block of so many threads, with registers a thread and bytes of shared memory."""
    warps = -(-threads // WARP)
    possible = {**_blocks(limits, warps, registers, shared), **_by_barriers(limits, barriers)}
    blocks = min(possible.values())
    by = tuple(name for name, count in possible.items() if count == blocks)
    return Occupancy(blocks, blocks * warps / (limits.threads // WARP), by)


def _blocks(limits: SmLimits, warps: int, registers: int, shared: int) -> Mapping[str, int]:
    """Blocks that each resource of an SM would allow alone."""
    per_warp = _rounded(registers * WARP, _REGISTER_PIECE)
    held = limits.registers // _PARTS // per_warp * _PARTS if per_warp else limits.threads
    block_shared = _rounded(shared + limits.reserved_shared, limits.shared_piece)
    return {
        "threads": limits.threads // WARP // warps,
        "blocks": limits.blocks,
        "registers": held // warps,
        "shared memory": limits.shared // block_shared if block_shared else limits.blocks,
    }


def _by_barriers(limits: SmLimits, barriers: int) -> Mapping[str, int]:
    return {"barriers": limits.barriers // barriers} if limits.barriers and barriers else {}


def _rounded(number: int, piece: int) -> int:
    return -(-number // piece) * piece
