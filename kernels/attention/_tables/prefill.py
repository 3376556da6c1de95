"""Attention of many queries a request, whose lengths and pages are on the device alone.

A kernel lists the work there, for the kernels that wrappers plan for on the host.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import torch

from fictl.op import KernelModule

from .._arguments.cache import PagedCache
from .._arguments.dtypes import Dtypes
from .._arguments.options import Heads, Options, options
from .._config import Config
from .._plan.attention import Work
from .._plan.lengths import Lengths
from .._plan.prefill import prefill_work
from .._plan.tensors import addressable
from .._sm90_tiles import gathers, rows_in_use
from .._tiles import blocks_at_once
from .cache import block_scales, check_table, own_tables
from .scales import Scales

_ITEM, _MERGE = 12, 8  # numbers of int32, as work.cuh has them
_ALIGNED = 128
_MOST_COUNTED = (1 << 31) - (1 << 20)


class Starts(NamedTuple):
    """Lengths on the device: `q_starts` and `kv_starts` count units of so many in a token.

    Lengths that are None follow from the starts. `kv_starts` is None for keys in pages.
    """

    requests: int
    most_queries: int
    kv_lens: torch.Tensor | None
    q_starts: torch.Tensor | None
    q_lens: torch.Tensor | None = None
    kv_starts: torch.Tensor | None = None
    q_unit: int = 1
    kv_unit: int = 1

    @property
    def numbers(self) -> tuple[torch.Tensor | None, ...]:
        """Tensors in the order in which they are listed by."""
        return self.kv_lens, self.q_lens, self.q_starts, self.kv_starts


class Kernels(NamedTuple):
    """The kernel that lists work, and those that do it."""

    lists: KernelModule
    attends: KernelModule


class _Shape(NamedTuple):
    """Numbers from which a call's kernel and the room for its list follow."""

    op: str
    device: torch.device
    options: Options
    requests: int
    queries: int
    most_queries: int
    page_size: int
    scaled: bool
    own_tables: bool


class _Chosen(NamedTuple):
    config: Config
    rows: int  # of a tile that have work
    slots: int
    items: int
    parts: int


def plain_options(
    op: str,
    heads: Heads,
    dtypes: Dtypes,
    *,
    causal: bool,
    window_left: int = -1,
    soft_cap: float | None = None,
) -> Options:
    """Check what is known of a call whose scale comes apart."""
    return options(
        op,
        heads,
        dtypes,
        causal=causal,
        window_left=window_left,
        soft_cap=soft_cap,
        sm_scale=1.0,
        rope_scale=None,
        rope_theta=None,
        positions="NONE",
        narrow_out=True,
    )


# Why remembered: a step of an engine calls the same for every layer.
@lru_cache(maxsize=256)
def _choose(shape: _Shape) -> _Chosen:
    """Choose the kernel, and how much room its list may need."""
    chosen, device = shape.options, shape.device
    # The wrappers' choice asks how many requests there are, and nothing of their lengths.
    lengths = Lengths(shape.requests, torch.empty(0), page_size=shape.page_size)
    work: Work = prefill_work(
        shape.op,
        device,
        "fa2" if shape.own_tables else "auto",
        lengths,
        chosen,
        shape.queries,
        masked=False,
        # Scales on the device transform scores as a variant does.
        has_variant=shape.scaled,
        why="",
        argument="query",
    )
    config = Config(
        chosen.q,
        chosen.kv,
        chosen.o,
        chosen.head_dim,
        shape.page_size > 0,
        work.rows,
        head_dim_v=chosen.head_dim_v,
        backend=work.backend,
        keys=work.keys,
        gathers=gathers(work.backend, shape.page_size) if shape.page_size else False,
        scaled=shape.scaled,
        soft_cap=chosen.soft_cap > 0.0,
        own_tables=shape.own_tables,
    )
    dims = (chosen.head_dim, True, chosen.head_dim_v, work.backend)
    rows = rows_in_use(work.rows, chosen.group) if work.backend == "sm90" else work.rows
    slots = max(blocks_at_once(device, work.rows, *dims) // chosen.kv_heads, 1)
    by_request = shape.requests * -(-shape.most_queries * chosen.group // rows)
    tiles = min(by_request, -(-shape.queries * chosen.group // rows) + shape.requests)
    # Where there are tiles for several waves of blocks, none is split.
    parts = 0 if tiles >= 4 * slots else 4 * slots
    return _Chosen(config, rows, slots, tiles + parts, parts)


class _Room(NamedTuple):
    items: torch.Tensor
    merges: torch.Tensor
    out: torch.Tensor | None
    lse: torch.Tensor | None


def _room(op: str, memory: torch.Tensor, chosen: _Chosen, options: Options) -> _Room:
    """Cut the workspace: the list, then partial results, for as many parts as it has room for."""
    if not isinstance(memory, torch.Tensor) or not memory.is_contiguous():
        what = f"has strides {memory.stride()}" if torch.is_tensor(memory) else f"is {memory!r}"
        raise ValueError(
            f"{op}: argument 'workspace_buffer' {what}; pass a contiguous tensor of 128 MiB"
        )
    numbers = memory.view(-1).view(torch.uint8)
    numbers = numbers[: len(numbers) // 4 * 4].view(torch.int32)
    rows = _ALIGNED // 4
    items = -(-chosen.items * _ITEM // rows) * rows
    merges = -(-chosen.parts * _MERGE // rows) * rows
    left = len(numbers) - items - merges
    if left < 0:
        raise ValueError(
            f"{op}: argument 'workspace_buffer' has {memory.nbytes} bytes; the list of work takes "
            f"{4 * (items + merges)}: pass 128 MiB"
        )
    of_part = chosen.rows * options.kv_heads * (options.head_dim_v + 1)
    parts = min(chosen.parts, left // of_part)
    parts = parts if parts > 1 else 0
    lists = (
        numbers[: chosen.items * _ITEM].view(-1, _ITEM),
        numbers[items : items + parts * _MERGE].view(-1, _MERGE),
    )
    if not parts:
        return _Room(*lists, None, None)
    floats = numbers[items + merges :].view(torch.float32)
    middle = parts * chosen.rows * options.kv_heads * options.head_dim_v
    return _Room(*lists, floats[:middle], floats[middle : parts * of_part])


class _Place(NamedTuple):
    """Pages as one list, whose rows are `pitch` apart, and how many keys a request may have."""

    pages: torch.Tensor | None
    slots: int
    pitch: int
    keys: int


def _place(
    op: str, tables: torch.Tensor | None, k: torch.Tensor, hnd: bool, shared: bool
) -> _Place:
    """Find where keys are: in pages, or one after another where there are no tables."""
    slots = k.shape[2 if hnd else 1]
    if tables is None:
        return _Place(None, 0, 0, len(k))
    apart = 0
    if not shared:
        tables, apart = own_tables(op, tables, k)
    check_table(op, "block_tables", tables)
    pitch = tables.stride(0) if len(tables) > 1 else 0
    # Rows of a wider table, as one list from the first entry to the last; of values, another.
    reach = (len(tables) - 1) * pitch + tables.shape[1] if tables.numel() else 0
    if max(reach, tables.shape[1] * slots) > _MOST_COUNTED:
        raise ValueError(
            f"{op}: argument 'block_tables' has shape {tuple(tables.shape)} and strides "
            f"{tables.stride()} for pages of {slots}; an int32 does not count that"
        )
    if not shared:
        pages = tables.as_strided((2, reach), (apart, 1))
    else:
        pages = tables if tables.is_contiguous() else tables.as_strided((reach,), (1,))
    return _Place(pages, slots, pitch, tables.shape[1] * slots)


def _blocks(
    op: str, k: torch.Tensor, kv_cache_sf: PagedCache | None, hnd: bool, scales: Scales
) -> tuple[torch.Tensor | None, ...] | None:
    """View the scales of a cache of 4 bits as kernels take them; None for another cache."""
    given = block_scales(op, k, kv_cache_sf, hnd)
    if given[0] is None or given[1] is None:
        return None
    if scales.on_device:
        raise NotImplementedError(
            f"{op}: factors of scores and of values are tensors, and the cache is of 4 bits, whose "
            "scales take their place: pass numbers"
        )
    stacked = given[0].ndim == 5
    return (None, given[0][:, 0], given[1][:, -1]) if stacked else (None, *given)


def _check_queries(op: str, starts: Starts, q: torch.Tensor) -> None:
    """Refuse queries of no request, and lengths that nothing tells."""
    if not starts.requests and len(q):
        raise ValueError(f"{op}: argument 'q' has shape {tuple(q.shape)}, and there is no request")
    if starts.q_lens is None and starts.q_starts is None:
        raise ValueError(f"{op}: argument 'q_starts' is None; pass a tensor on the device")
    if starts.most_queries is None or (starts.most_queries < 1 and len(q)):
        raise ValueError(
            f"{op}: argument 'max_q_len' is {starts.most_queries}, 'q' has shape {tuple(q.shape)}; "
            "it is the most queries of a request"
        )


def _check_keys(
    op: str, starts: Starts, k: torch.Tensor, v: torch.Tensor, tables: torch.Tensor | None
) -> None:
    """Refuse lengths that nothing tells, tables of other requests, and values of fewer keys."""
    if starts.kv_lens is None and starts.kv_starts is None:
        name = "kv_starts" if tables is None else "kv_lens"
        raise ValueError(f"{op}: argument '{name}' is None; pass a tensor on the device")
    if tables is not None and len(tables) < starts.requests:
        raise ValueError(
            f"{op}: argument 'block_tables' has shape {tuple(tables.shape)}; it has a row for each "
            f"of {starts.requests} requests"
        )
    if len(v) < len(k):
        raise ValueError(
            f"{op}: keys have shape {tuple(k.shape)}, values {tuple(v.shape)}; pass as many of both"
        )


def attend(
    kernels: Kernels,
    op: str,
    options: Options,
    starts: Starts,
    memory: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    tables: torch.Tensor | None,
    *,
    hnd: bool,
    scales: Scales,
    out: torch.Tensor,
    lse: torch.Tensor | None,
    sinks: torch.Tensor | None,
    enable_pdl: bool | None,
    kv_cache_sf: PagedCache | None = None,
    shared_tables: bool = True,
) -> None:
    """Compute attention into `out`, and `lse` if there is one. `memory` is the workspace.

    kv_cache_sf: scales of the blocks of a cache of 4 bits. shared_tables: whether a request has one
        row of pages, not one of keys and one of values.
    """
    _check_queries(op, starts, q)
    _check_keys(op, starts, k, v, tables)
    place = _place(op, tables, k, hnd, shared_tables)
    most, tokens = min(starts.most_queries, len(q)), len(q)
    shape = (op, q.device, options, starts.requests, tokens, most, place.slots, scales.on_device)
    blocks = _blocks(op, k, kv_cache_sf, hnd, scales)
    chosen = _choose(_Shape(*shape, not shared_tables))
    room = _room(op, memory, chosen, options)
    pdl = enable_pdl is None or enable_pdl
    kernels.lists.list_work(
        op,
        *room[:2],
        *starts.numbers,
        starts.requests,
        starts.q_unit,
        starts.kv_unit,
        most,
        tokens,
        place.keys,
        place.pitch,
        chosen.rows,
        options.group,
        chosen.slots,
        options.window_left,
        options.causal,
        pdl,
    )
    if chosen.config.backend == "sm90":
        q, k, v = map(addressable, (q, k, v))
    kernels.attends[chosen.config].attend(
        op,
        out,
        lse,
        q,
        k,
        v,
        place.pages,
        place.slots,
        hnd,
        *room[:2],
        None,
        *room[2:],
        None,
        None,
        sinks,
        *(scales.tensors if blocks is None else blocks),
        options.sm_scale * scales.of_scores,
        scales.of_values,
        options.soft_cap,
        options.window_left,
        options.causal,
        1.0,
        1e4,
        None,
        pdl,
        0,
    )
