"""Attention of a few queries a request, whose lengths and pages are on the device alone."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import torch

from fictl.op import KernelModule

from .._arguments.cache import PagedCache
from .._arguments.dtypes import Dtype, Dtypes
from .._arguments.lse import lse_for_kernel
from .._arguments.numbers import number
from .._arguments.options import check_dims, check_dtypes
from .._arguments.renaming import Renaming
from .._config import FP4, Config
from .._head_dims import fp4_misfit
from .._tiles import DECODE_ROWS, FEW_ROWS, has_few_rows
from .arguments import result_dtype, viewed
from .cache import block_scales, own_tables, stacked_or_pair
from .queries import Queries
from .scales import Scales

# Bytes of a workspace in which counters are, as FlashInfer has it: they are zeros between calls.
RESERVED = 8 << 20
# Those of a GPU of 1000 SMs.
_COUNTERS = 128 << 10


class Memory(NamedTuple):
    """Memory on the device: counters, and partial results from the byte `reserved` on.

    Counters of None are at the beginning of the other: torch takes no tensor twice that is written.
    """

    counters: torch.Tensor | None
    parts: torch.Tensor
    reserved: int


def workspace_of(op: str, workspace: torch.Tensor) -> Memory:
    """View a workspace as FlashInfer divides it."""
    if not isinstance(workspace, torch.Tensor):
        raise TypeError(
            f"{op}: argument 'workspace_buffer' is a {type(workspace).__name__}; pass a tensor"
        )
    if workspace.nbytes <= RESERVED:
        raise ValueError(
            f"{op}: argument 'workspace_buffer' has {workspace.nbytes} bytes; the first {RESERVED} "
            "are for counters, and partial results come after them: pass 128 MiB of zeros"
        )
    return Memory(None, workspace, RESERVED)


def zeroed_workspace(workspace: torch.Tensor, counters: torch.Tensor | None = None) -> Memory:
    """View memory for partial results, with counters that are zeros or else are made so."""
    if counters is not None:
        return Memory(counters, workspace, 0)
    numbers = workspace.view(-1).view(torch.uint8)
    numbers[:_COUNTERS].zero_()
    return Memory(None, numbers, _COUNTERS)


# More than any table of pages has room for.
_ANY_KEYS = 1 << 31


# Why remembered: a step of an engine calls the same for every layer.
@lru_cache(maxsize=256)
def _built_for(
    kernel: KernelModule,
    op: str,
    dtypes: Dtypes,
    dim: int,
    masked: bool,
    scaled: bool,
    own_tables: bool,
    rows: int,
) -> KernelModule:
    check_dtypes(op, dtypes, narrow_out=True)
    if dtypes.kv is FP4 and fp4_misfit(dim, dim):
        raise NotImplementedError(f"{op}: {fp4_misfit(dim, dim)}")
    check_dims(op, dim, dim, kv_bytes=dtypes.kv.itemsize)
    seen = "DraftMask" if masked else ""
    return kernel[Config(*dtypes, dim, True, rows, seen=seen, scaled=scaled, own_tables=own_tables)]


def _check_dimensions(op: str, q: torch.Tensor) -> None:
    if q.ndim != 3:
        shape = tuple(q.shape)
        raise ValueError(f"{op}: argument 'q' has shape {shape}, which is not 3-dimensional")


def _rows(q: torch.Tensor, k: torch.Tensor, hnd: bool, q_len: int) -> int:
    """Choose the rows of a tile."""
    few = k.dtype is FP4 and has_few_rows(q.shape[1] * q_len, k.shape[-3 if hnd else -2])
    return FEW_ROWS.rows if few else DECODE_ROWS


def attend(
    kernel: KernelModule,
    op: str,
    names: Renaming,
    q: torch.Tensor,
    kv_cache: PagedCache,
    hnd: bool,
    memory: Memory,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    queries: Queries,
    scales: Scales,
    *,
    window_left: int,
    out: torch.Tensor | None,
    out_dtype: Dtype | None = None,
    o_scale: float | None = 1.0,
    lse: torch.Tensor | None = None,
    return_lse: bool = False,
    mask: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
    enable_pdl: bool | None,
    most_sms: int = 0,
    kv_cache_sf: PagedCache | None = None,
    shared_tables: bool = True,
    likely_keys: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Compute (out, lse), both (tokens, heads, …). The second where it is asked for, or given.

    names: what the function that is called has other words for. o_scale: a factor of results of 16
        bits. shared_tables: whether a request has one row of pages, not one of keys and one of values.
        likely_keys: of the longest request, as the caller says; a wrong number only costs time.
    """
    with names:
        _check_dimensions(op, q)
    k, v = stacked_or_pair(op, kv_cache, hnd)
    dtype = result_dtype(op, "out_dtype", out_dtype, out, q.dtype)
    if out is None:
        out = torch.empty(q.shape, dtype=dtype, device=q.device)
    if o_scale != 1.0 and out.dtype.itemsize > 1:
        factor = number(op, "o_scale", 1.0 if o_scale is None else o_scale)
        scales = scales._replace(of_values=scales.of_values * factor)
    if lse is not None or return_lse:
        lse = lse_for_kernel(op, lse, q)
    if v.dtype is not k.dtype:
        raise TypeError(f"{op}: keys have dtype {k.dtype}, values {v.dtype}")
    blocks = block_scales(op, k, kv_cache_sf, hnd)
    apart = 0
    if not shared_tables:
        block_tables, apart = own_tables(op, block_tables, k)
    dtypes = Dtypes(q.dtype, k.dtype, out.dtype)
    chosen = _built_for(
        kernel,
        op,
        dtypes,
        q.shape[-1],
        mask is not None,
        scales.on_device,
        not shared_tables,
        _rows(q, k, hnd, queries.most),
    )
    with names:
        chosen.attend_planned(
            op,
            viewed(op, "out", out, q.shape),
            lse,
            q,
            k,
            v,
            block_tables,
            seq_lens,
            queries.starts,
            hnd,
            queries.most,
            memory.counters,
            memory.parts,
            memory.reserved,
            mask,
            sinks,
            scales.q,
            scales.k,
            scales.v,
            scales.of_scores,
            scales.of_values,
            window_left,
            enable_pdl is None or enable_pdl,
            most_sms,
            *blocks,
            apart,
            likely_keys if isinstance(likely_keys, int) else _ANY_KEYS,
        )
    return out, lse
