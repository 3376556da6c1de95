"""A call of attention over runs of keys: what both wrappers do once there is a work list."""

from __future__ import annotations

from typing import NamedTuple

import torch

from fictl.op import KernelModule

from .._arguments.head_scales import NO_SCALES
from .._arguments.options import Options
from .._backends import AUTO, PREFILL
from .._config import Config
from .._tiles import rows_in_use, tile_rows

_ITEM, _MERGE = 12, 8  # numbers of int32, as work.cuh has them
_SHORTEST, _SM90_ROWS, _ENOUGH = 16, (64, 128), 1 << 30
ENTRY = 2  # of a list of runs: numbers of int32, as run_keys.cuh has them


class Tiling(NamedTuple):
    """The kernel of a plan: its backend, the rows of its tile, and how many of them have work."""

    backend: str
    rows: int
    used: int


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
    rows = tile_rows(queries, max(blocks, 1), chosen.group, chosen.head_dim)
    # Who asks for a kernel gets it for small blocks, too.
    enough = rows > _SHORTEST or asked != AUTO
    facts = (chosen.head_dim, chosen.group, chosen.positions, chosen.q)
    backend = PREFILL.choose(op, device, asked, *facts, _ENOUGH if enough else rows).backend
    if backend == "sm90":
        rows = min(max(rows, _SM90_ROWS[0]), _SM90_ROWS[1])
        rows = rows if rows >= chosen.group else _SM90_ROWS[1]
    return Tiling(backend, rows, rows_in_use(rows, chosen.group, backend))


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
        rows=tile.rows,
        soft_cap=chosen.soft_cap > 0.0,
        custom_mask=masked,
        backend=tile.backend,
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
    )
