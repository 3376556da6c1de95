"""Tiles of attention: how many rows of queries a block takes at once, and what follows from that.

This table is the only place that decides a tile. `Config` accepts nothing else, `aot()` builds what
it marks, plans count blocks by it, and config.jinja hands its numbers to the kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch


@dataclass(frozen=True)
class Tile:
    """One tile. A row is a query of one head; heads that share a head of keys share tiles.

    rows: rows of queries in a tile.
    head_dims: the sizes of a head that it is for.
    keys: keys and values in a stage; 0 where the kernel derives them from the bytes of a key.
    warp_rows: rows of one warp; 0 where all warps have all rows.
    blocks: blocks that share an SM, as registers and shared memory allow.
    aot: whether wheels ship it, built ahead of time.
    """

    rows: int
    head_dims: tuple[int, ...]
    keys: int = 0
    warp_rows: int = 0
    blocks: int = 2
    aot: bool = False


# Kernels on tensor cores: decode.cuh for 16 rows, prefill.cuh for more.
TENSOR_CORES = (
    Tile(16, (64, 128, 256), blocks=3, aot=True),
    Tile(64, (64, 128), keys=64, warp_rows=16, aot=True),
    Tile(64, (256,), keys=32, warp_rows=16),
    Tile(128, (64, 128), keys=64, warp_rows=32, aot=True),
)
# sm90/prefill.cuh: warpgroups of 64 rows, and a block an SM.
# Of several tiles for heads of one size the first is for most; sm90_tile() says when others are.
SM90 = (
    Tile(192, (64,), keys=128, warp_rows=16, blocks=1),
    Tile(128, (64,), keys=128, warp_rows=16, blocks=1),
    Tile(128, (128,), keys=128, warp_rows=16, blocks=1, aot=True),
    Tile(128, (128,), keys=176, warp_rows=16, blocks=1, aot=True),
    Tile(128, (256,), keys=80, warp_rows=16, blocks=1),
    Tile(128, (256,), keys=64, warp_rows=16, blocks=1),
)
# A warpgroup that stands alone, for blocks of a mask; two blocks an SM.
SM90_BLOCKS = (Tile(64, (64, 128), keys=64, warp_rows=16, blocks=2),)
# decode_fma.cuh on CUDA cores: a tile is the heads that share a head of keys, of one query.
CUDA_CORES = (
    Tile(1, (64, 128, 256), blocks=3, aot=True),
    Tile(2, (64, 128, 256), blocks=3, aot=True),
    Tile(3, (64, 128, 256), blocks=3),
    Tile(4, (64, 128, 256), blocks=3),
)
# Heads to a head of keys up to which CUDA cores are chosen; beyond, tensor cores have enough rows.
MOST_HEADS_ON_CUDA_CORES = 3

# A box of the copy engine holds whole patterns of the swizzle.
_BOX_ROWS = 8
_EMULATED_SMS = 4


def tile(
    rows: int, head_dim: int, tensor_cores: bool = True, backend: str = "sm80", keys: int = 0
) -> Tile:
    """Look up the tile of this height, or raise ValueError with the heights that there are.

    keys: of a stage, where heights do not tell the tiles apart.
    """
    table = (
        (*SM90, *SM90_BLOCKS) if backend == "sm90" else TENSOR_CORES if tensor_cores else CUDA_CORES
    )
    for known in table:
        if known.rows == rows and head_dim in known.head_dims and keys in (0, known.keys):
            return known
    cores = "tensor cores" if tensor_cores else "CUDA cores"
    heights = dict.fromkeys(known.rows for known in table if head_dim in known.head_dims)
    raise ValueError(
        f"attention: there is no tile of {rows} rows for heads of {head_dim} on {cores}; there are "
        f"{', '.join(map(str, heights))}: add it to _tiles.py"
    )


def aot_rows(head_dim: int, tensor_cores: bool = True) -> list[int]:
    """List the heights of the tiles that wheels ship."""
    table = TENSOR_CORES if tensor_cores else CUDA_CORES
    return [known.rows for known in table if known.aot and head_dim in known.head_dims]


def tile_rows(queries: int, requests: int, group: int, head_dim: int) -> int:
    """Choose the rows of a tile on tensor cores: the least that an average request fits into."""
    average = queries * group / max(requests, 1)
    # Why a loop: a plan has microseconds for all of this.
    for rows in _heights(head_dim):
        if average <= rows:
            break
    return rows


def sm90_tile(head_dim: int, *, group: int, sees_all: bool, simple: bool, copied: bool) -> Tile:
    """Choose the tile on Hopper.

    sees_all: every query sees every key: long stages then have no half that is masked.
    simple: scores are neither transformed nor masked singly, for which three warpgroups have no
        registers.
    copied: a warpgroup copies keys row by row, a thread for each, and needs shared memory of its own.
    """
    known = [each for each in SM90 if head_dim in each.head_dims and each.rows >= group]
    if copied:
        return min((each for each in known if each.rows <= 128), key=lambda each: each.keys)
    if not simple:
        known = [each for each in known if each.rows <= 128] or known
    return max(known, key=lambda each: each.keys) if sees_all and simple else known[0]


def rows_in_use(rows: int, group: int, backend: str) -> int:
    """Count the rows of a tile that have work: bulk copies bring whole groups of heads."""
    return rows // group * group if backend == "sm90" else rows


def gathers(backend: str, page_size: int) -> bool:
    """Tell whether rows of keys are copied one by one: boxes of pages are of 8 rows at least."""
    return backend == "sm90" and page_size % _BOX_ROWS != 0


def decode_rows(group: int, q_len: int, head_dim: int, tensor_cores: bool) -> int:
    """Choose the rows of a tile for decoding; on CUDA cores a tile is one group of heads."""
    return tile_rows(q_len, 1, group, head_dim) if tensor_cores else group


@cache
def blocks_at_once(
    device: torch.device, rows: int, head_dim: int, tensor_cores: bool, backend: str = "sm80"
) -> int:
    """Count the blocks of a kernel that a GPU runs at once."""
    return tile(rows, head_dim, tensor_cores, backend).blocks * _sm_count(device)


@cache
def _heights(head_dim: int, tensor_cores: bool = True) -> tuple[int, ...]:
    table = TENSOR_CORES if tensor_cores else CUDA_CORES
    return tuple(known.rows for known in table if head_dim in known.head_dims)


@cache
def _sm_count(device: torch.device) -> int:
    if device.type != "cuda":
        return _EMULATED_SMS
    return torch.cuda.get_device_properties(device).multi_processor_count
