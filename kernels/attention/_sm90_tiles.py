"""Tiles of attention on Hopper: which one takes what, and how many of its rows have work."""

from __future__ import annotations

from functools import cache

from ._tiles import Tile

# For fp8 where scores are transformed or masked: sums of stages leave few registers.
_SMALL = Tile(128, 128, 128, keys=64, warp_rows=16, blocks=1)
# sm90/prefill.cuh: warpgroups of 64 rows, and a block an SM. Heads are of whole panels of 64. Of
# several tiles for the same heads the first is for most; choose() says when others are.
SM90 = (
    Tile(192, 64, 64, keys=128, warp_rows=16, blocks=1),
    Tile(128, 64, 64, keys=128, warp_rows=16, blocks=1),
    Tile(128, 128, 128, keys=128, warp_rows=16, blocks=1),
    _SMALL,
    Tile(128, 192, 128, keys=128, warp_rows=16, blocks=1),
    Tile(128, 256, 256, keys=80, warp_rows=16, blocks=1),
    Tile(128, 256, 256, keys=64, warp_rows=16, blocks=1),
)
# A warpgroup that stands alone, for blocks of a mask.
SM90_BLOCKS = (
    Tile(64, 64, 64, keys=64, warp_rows=16, blocks=2),
    Tile(64, 128, 128, keys=64, warp_rows=16, blocks=2),
)
# A box of the copy engine holds whole patterns of the swizzle.
_BOX_ROWS = 8
_TWO_WARPGROUPS = 128  # rows


def tile(rows: int, keys: int, head_dim: int, head_dim_v: int) -> Tile:
    """Look up the tile of these rows, and keys of a stage, or raise ValueError."""
    for known in (*of_heads(head_dim, head_dim_v), *of_blocks(head_dim, head_dim_v)):
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


@cache
def of_blocks(head_dim: int, head_dim_v: int) -> tuple[Tile, ...]:
    """List the tiles for blocks of a mask, which is one at most."""
    return tuple(
        known
        for known in SM90_BLOCKS
        if (known.head_dim, known.head_dim_v) == (head_dim, head_dim_v)
    )


def choose(
    head_dim: int,
    head_dim_v: int,
    *,
    group: int,
    simple: bool,
    copied: bool = False,
    fp8: bool = False,
) -> Tile:
    """Choose the tile.

    simple: scores are neither transformed nor masked singly: that takes registers, which the
        smallest tile leaves.
    copied: a warpgroup copies keys row by row, a thread for each, and needs shared memory of its own.
    fp8: queries are of 8 bits, and a stage has sums of its own beside those of all keys.
    """
    known = [one for one in of_heads(head_dim, head_dim_v) if one.rows >= group]
    if fp8 and not simple and _SMALL in known:
        return _SMALL
    known = [one for one in known if one is not _SMALL]
    if copied:
        most = 128 if head_dim_v <= 128 else 64
        return next(one for one in known if one.rows <= _TWO_WARPGROUPS and one.keys <= most)
    return known[0] if simple else min(known, key=lambda one: (one.rows, one.keys))


def rows_in_use(rows: int, group: int) -> int:
    """Count the rows of a tile that have work: bulk copies bring whole groups of heads."""
    return rows // group * group


def gathers(backend: str, page_size: int) -> bool:
    """Tell whether rows of keys are copied one by one: boxes of pages are of 8 rows at least."""
    return backend == "sm90" and page_size % _BOX_ROWS != 0
