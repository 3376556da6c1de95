"""Tiles of attention: how many rows of queries a block takes at once, and what follows from that.

This table is the only place that decides a tile. `Config` accepts nothing else, `aot()` builds what
it marks, plans count blocks by it, and config.jinja hands its numbers to the kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch

from ._head_dims import MOST, MOST_ON_CUDA_CORES, padded, value_parts


@dataclass(frozen=True)
class Tile:
    """One tile. A row is a query of one head; heads that share a head of keys share tiles.

    rows: rows of queries in a tile.
    head_dim, head_dim_v: the largest heads that it is for, of queries and keys, and of values. Of
        tiles of the same height, the first that fits is used.
    keys: keys and values in a stage; 0 where the kernel derives them from the bytes of a key.
    warp_rows: rows of one warp; 0 where all warps have all rows.
    blocks: blocks that share an SM, as registers and shared memory allow.
    aot: whether wheels ship it, built ahead of time.
    """

    rows: int
    head_dim: int
    head_dim_v: int
    keys: int = 0
    warp_rows: int = 0
    blocks: int = 2
    aot: bool = False


# Kernels on tensor cores: decode.cuh for 16 rows, prefill.cuh for more.
TENSOR_CORES = (
    Tile(16, MOST, MOST, blocks=3, aot=True),
    Tile(64, 128, 128, keys=64, warp_rows=16, aot=True),
    Tile(64, 256, 256, keys=32, warp_rows=16),
    Tile(64, MOST, MOST, keys=32, warp_rows=16, blocks=1),
    Tile(128, 128, 128, keys=64, warp_rows=32, aot=True),
    Tile(128, 160, 160, keys=32, warp_rows=32),
    Tile(128, 192, 128, keys=32, warp_rows=32),
)
# decode.cuh for keys of four bits, where the rows of a request are so few.
FEW_ROWS = Tile(8, 256, 256, blocks=3)
# decode_fma.cuh on CUDA cores: a tile is the heads that share a head of keys, of one query.
CUDA_CORES = (
    Tile(1, MOST_ON_CUDA_CORES, MOST_ON_CUDA_CORES, blocks=3, aot=True),
    Tile(2, MOST_ON_CUDA_CORES, MOST_ON_CUDA_CORES, blocks=3, aot=True),
    Tile(3, MOST_ON_CUDA_CORES, MOST_ON_CUDA_CORES, blocks=3),
    Tile(4, MOST_ON_CUDA_CORES, MOST_ON_CUDA_CORES, blocks=3),
)
# Heads to a head of keys up to which CUDA cores are chosen; beyond, tensor cores have enough rows.
MOST_HEADS_ON_CUDA_CORES = 3

_ITEM_BYTES = 256

# Rows of the tiles of decoding; taller ones are prefill's.
DECODE_ROWS = 16

_EMULATED_SMS = 4
_EMULATED_SHARED_BYTES = 227 * 1024
_LEAST_SHARED_BYTES = 99 * 1024  # of any GPU from sm_80 on


def tile(rows: int, head_dim: int, tensor_cores: bool = True, head_dim_v: int = 0) -> Tile:
    """Look up the tile of this height, or raise ValueError with the heights that there are.

    Here and below, a `head_dim_v` of 0 is `head_dim`.
    """
    values = head_dim_v or head_dim
    tiles = _of_heads(head_dim, values, tensor_cores)
    few: tuple[Tile, ...] = (
        (FEW_ROWS,) if tensor_cores and max(head_dim, values) <= FEW_ROWS.head_dim else ()
    )
    for known in (*few, *tiles):
        if known.rows == rows:
            return known
    cores = "tensor cores" if tensor_cores else "CUDA cores"
    sizes = f"{head_dim}" if values == head_dim else f"{head_dim} (values of {values})"
    raise ValueError(
        f"attention: there is no tile of {rows} rows for heads of {sizes} on {cores}; there are "
        f"{', '.join(str(known.rows) for known in tiles)}: add it to _tiles.py"
    )


def shared_bytes(known: Tile, head_dim: int, head_dim_v: int) -> int:
    """Count the bytes of shared memory of prefill.cuh: queries, and two stages of 16-bit keys.

    Keys of 8 bits take as much with what they are converted to. The addresses of the keys come on
    top, and the item.
    """
    keys = padded(head_dim)
    values = padded(-(-head_dim_v // value_parts(head_dim_v)))
    tiles = 2 * (known.rows * max(keys, values) + 2 * known.keys * (keys + values))
    return tiles + 2 * 16 * known.keys + _ITEM_BYTES


def aot_rows(head_dim: int, tensor_cores: bool = True) -> list[int]:
    """List the heights of the tiles that wheels ship."""
    return [known.rows for known in _of_heads(head_dim, head_dim, tensor_cores) if known.aot]


def tile_rows(
    queries: int,
    requests: int,
    group: int,
    head_dim: int,
    head_dim_v: int = 0,
    device: torch.device | None = None,
) -> int:
    """Choose the rows of a tile on tensor cores: the least that an average request fits into.

    Tiles that need more shared memory than a block of the device may have are left out.
    """
    average = queries * group / max(requests, 1)
    # Why a loop: a plan has microseconds for all of this.
    for rows in _heights(head_dim, head_dim_v or head_dim, device):
        if average <= rows:
            break
    return rows


def has_few_rows(rows: int, kv_heads: int = 1) -> bool:
    """Tell whether the rows of a request, of so many heads of keys, fit tiles of FEW_ROWS."""
    return rows <= FEW_ROWS.rows * kv_heads


def decode_rows(
    group: int,
    q_len: int,
    head_dim: int,
    tensor_cores: bool,
    head_dim_v: int = 0,
    device: torch.device | None = None,
    four_bits: bool = False,
) -> int:
    """Choose the rows of a tile for decoding; on CUDA cores a tile is one group of heads."""
    if not tensor_cores:
        return group
    if four_bits and has_few_rows(q_len * group):
        return FEW_ROWS.rows
    return tile_rows(q_len, 1, group, head_dim, head_dim_v, device)


@cache
def blocks_at_once(
    device: torch.device,
    rows: int,
    head_dim: int,
    tensor_cores: bool,
    head_dim_v: int = 0,
    backend: str = "sm80",
) -> int:
    """Count the blocks of a kernel that a GPU runs at once, by heads of keys."""
    if backend == "sm90":
        return sm_count(device)
    blocks = tile(rows, head_dim, tensor_cores, head_dim_v).blocks * sm_count(device)
    return max(blocks // value_parts(head_dim_v or head_dim), 1)


@cache
def _of_heads(head_dim: int, head_dim_v: int, tensor_cores: bool) -> tuple[Tile, ...]:
    """List the tiles for heads of these sizes, one of each height."""
    tiles: dict[int, Tile] = {}
    for known in TENSOR_CORES if tensor_cores else CUDA_CORES:
        if head_dim <= known.head_dim and head_dim_v <= known.head_dim_v:
            tiles.setdefault(known.rows, known)
    return tuple(tiles.values())


@cache
def _heights(head_dim: int, head_dim_v: int, device: torch.device | None) -> tuple[int, ...]:
    """List the heights of tiles on tensor cores that the device has shared memory for."""
    most = _shared_bytes_of(device)
    return tuple(
        known.rows
        for known in _of_heads(head_dim, head_dim_v, True)
        if not known.keys or shared_bytes(known, head_dim, head_dim_v) <= most
    )


def _shared_bytes_of(device: torch.device | None) -> int:
    """Read how many bytes of shared memory a block of the device may have."""
    if device is None or device.type != "cuda":
        return _EMULATED_SHARED_BYTES
    properties = torch.cuda.get_device_properties(device)
    return int(getattr(properties, "shared_memory_per_block_optin", _LEAST_SHARED_BYTES))


@cache
def sm_count(device: torch.device) -> int:
    """Count the SMs of a device."""
    if device.type != "cuda":
        return _EMULATED_SMS
    return torch.cuda.get_device_properties(device).multi_processor_count
