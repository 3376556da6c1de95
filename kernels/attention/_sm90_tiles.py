"""Tiles of attention on Hopper: which one takes what, and how many of its rows have work."""

from __future__ import annotations

from functools import cache

from ._tiles import Tile

# sm90/prefill.cuh: warpgroups of 64 rows, and a block an SM. Heads are of whole panels of 64. Of
# several tiles for the same heads the first is for most; choose() says when others are.
SM90 = (
    Tile(192, 64, 64, keys=128, warp_rows=16, blocks=1),
    Tile(128, 64, 64, keys=128, warp_rows=16, blocks=1),
    Tile(128, 128, 128, keys=128, warp_rows=16, blocks=1),
    Tile(128, 128, 128, keys=176, warp_rows=16, blocks=1),
    Tile(128, 192, 128, keys=128, warp_rows=16, blocks=1),
    Tile(128, 256, 256, keys=80, warp_rows=16, blocks=1),
    Tile(128, 256, 256, keys=64, warp_rows=16, blocks=1),
)
# A box of the copy engine holds whole patterns of the swizzle.
_BOX_ROWS = 8
# Shared memory of a block, less what tiles are aligned by.
_ROOM = 232448 - 2048
# What the addresses of a row take that is gathered, of its key and its value in three stages.
_ADDRESS_BYTES = 48


def tile(rows: int, keys: int, head_dim: int, head_dim_v: int) -> Tile:
    """Look up the tile of these rows, and keys of a stage, or raise ValueError."""
    for known in of_heads(head_dim, head_dim_v):
        if (known.rows, known.keys) == (rows, keys):
            return known
    raise ValueError(
        f"attention: there is no tile of {rows} rows and {keys} keys for heads of {head_dim} "
        f"(values of {head_dim_v}) on Hopper: add it to _sm90_tiles.py"
    )


@cache
def of_heads(head_dim: int, head_dim_v: int) -> tuple[Tile, ...]:
    """List the tiles for heads of these sizes."""
    return tuple(
        known for known in SM90 if (known.head_dim, known.head_dim_v) == (head_dim, head_dim_v)
    )


def choose(
    head_dim: int,
    head_dim_v: int,
    *,
    group: int,
    sees_all: bool,
    simple: bool,
    gathers: bool = False,
) -> Tile:
    """Choose the tile.

    sees_all: every query sees every key: long stages then have no half that is masked.
    simple: scores are neither transformed nor masked singly: that takes registers, which the
        smallest tile leaves.
    gathers: rows of keys are copied one by one, and the tile leaves room for their addresses.
    """
    known = [one for one in of_heads(head_dim, head_dim_v) if one.rows >= group]
    if gathers:
        known = [one for one in known if _has_room_for_addresses(one)]
    if not simple:
        return min(known, key=lambda one: (one.rows, one.keys))
    return max(known, key=lambda one: one.keys) if sees_all else known[0]


def _has_room_for_addresses(known: Tile) -> bool:
    """Tell whether the addresses of rows fit shared memory beside queries and two stages."""
    stage = known.keys * (known.head_dim + known.head_dim_v)
    return 2 * (known.rows * known.head_dim + 2 * stage) + _ADDRESS_BYTES * known.keys <= _ROOM


def rows_in_use(rows: int, group: int) -> int:
    """Count the rows of a tile that have work: bulk copies bring whole groups of heads."""
    return rows // group * group


def gathers(backend: str, paged: bool, page_size: int) -> bool:
    """Tell whether rows of keys are copied one by one: boxes of pages are of 8 rows at least."""
    return backend == "sm90" and paged and page_size % _BOX_ROWS != 0
