"""A call of attention over runs of keys: what both wrappers do once there is a work list."""

from __future__ import annotations

from typing import NamedTuple

import torch

from fictl.op import KernelModule

from .._arguments.head_scales import NO_SCALES
from .._arguments.options import Options
from .._backends import AUTO, PREFILL
from .._config import Config
from .._sm90_tiles import choose, of_blocks, rows_in_use
from .._tiles import Tile, tile_rows

_ITEM, _MERGE = 12, 8  # numbers of int32, as work.cuh has them
_FEW_ROWS = 16
ENTRY = 2  # of a list of runs: numbers of int32, as run_keys.cuh has them


class Tiling(NamedTuple):
    """The kernel of a plan: its backend, the rows of its tile, and how many of them have work.

    keys: of a stage, where heights do not tell tiles apart.
    """

    backend: str
    rows: int
    used: int
    keys: int = 0


class Listed(NamedTuple):
    """Work that a plan has left on the device: its items, the lists of runs and their pitch."""

    items: torch.Tensor
    lists: torch.Tensor
    pitch: int
    mask: torch.Tensor | None = None


def tiling(
    op: str, device: torch.device, asked: str, chosen: Options, queries: int, blocks: int
) -> Tiling:
    """Choose the kernel for so many blocks of queries, and its tile."""
    dims = (chosen.head_dim, chosen.head_dim_v)
    rows = tile_rows(queries, max(blocks, 1), chosen.group, *dims, device)
    # Who asks for a kernel gets it for small blocks, too.
    few = asked == AUTO and rows <= _FEW_ROWS
    facts = (*dims, chosen.group, chosen.positions, chosen.kv, few)
    backend = PREFILL.choose(op, device, asked, *facts).backend
    if backend == "sm80":
        return Tiling(backend, rows, rows)
    tile = _sm90_tile(chosen, rows)
    return Tiling(backend, tile.rows, rows_in_use(tile.rows, chosen.group), tile.keys)


def _sm90_tile(chosen: Options, rows: int) -> Tile:
    """Choose the least tile that holds so many rows: that of one warpgroup, if it does."""
    dims = (chosen.head_dim, chosen.head_dim_v)
    for tile in of_blocks(*dims):
        if max(rows, chosen.group) <= tile.rows:
            return tile
    return choose(*dims, group=chosen.group, simple=False, copied=True)


def no_items(count: int, device: torch.device) -> torch.Tensor:
    """Make room for as many items."""
    return torch.empty((count, _ITEM), dtype=torch.int32, device=device)


def config_of(chosen: Options, tile: Tiling, masked: bool) -> Config:
    """Name the kernel."""
    return Config(
        chosen.q,
        chosen.kv,
        chosen.o,
        chosen.head_dim,
        paged=False,
        head_dim_v=chosen.head_dim_v,
        rows=tile.rows,
        soft_cap=chosen.soft_cap > 0.0,
        custom_mask=masked,
        backend=tile.backend,
        keys=tile.keys,
        runs=True,
    )


def attend(
    op: str,
    kernel: KernelModule,
    chosen: Options,
    listed: Listed,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    *,
    hnd: bool,
    tile: Tiling,
    out: torch.Tensor,
    lse: torch.Tensor | None,
    scale: float,
    v_scale: float,
    enable_pdl: bool | None,
) -> None:
    """Compute attention into `out`, which is (tokens, heads, dim) as `q` is."""
    masked = listed.mask is not None
    kernel[config_of(chosen, tile, masked)].attend(
        op,
        out,
        lse,
        q,
        k,
        v,
        listed.lists,
        listed.pitch,
        hnd,
        listed.items,
        listed.items.new_empty((0, _MERGE)),
        None,
        None,
        None,
        listed.mask,
        None,
        None,
        *NO_SCALES,
        chosen.sm_scale * scale,
        v_scale,
        chosen.soft_cap,
        -1,
        chosen.causal and not masked,
        1.0,
        1e4,
        None,
        enable_pdl is None or enable_pdl,
        0,
    )
