"""Occupancy: the number of blocks of a kernel that an SM holds at once, and what limits it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

WARP = 32
# For compute capability 7.x to 12.x: warps get registers in units of this size, and each of an SM's
# four partitions has a quarter of the registers.
_REGISTER_PIECE = 256
_PARTS = 4
_SHARED_PIECE = 128


@dataclass(frozen=True)
class SmLimits:
    """Limits of one SM.

    reserved_shared: bytes of shared memory that the system takes per block. shared_piece: the unit
    of allocation. barriers: number of named barriers, 0 for unlimited.
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
    """Blocks per SM. share: of the SM's maximum warps. limits: the resources that limit it."""

    blocks: int
    share: float
    limits: tuple[str, ...]


def occupancy(
    limits: SmLimits, threads: int, registers: int, shared: int, barriers: int = 0
) -> Occupancy:
    """Compute occupancy; threads, shared and barriers are per block, registers per thread."""
    warps = -(-threads // WARP)
    possible = {**_blocks(limits, warps, registers, shared), **_by_barriers(limits, barriers)}
    blocks = min(possible.values())
    by = tuple(name for name, count in possible.items() if count == blocks)
    return Occupancy(blocks, blocks * warps / (limits.threads // WARP), by)


def _blocks(limits: SmLimits, warps: int, registers: int, shared: int) -> Mapping[str, int]:
    """Return the number of blocks that each resource alone would allow."""
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
