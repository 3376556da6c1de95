"""The kernels of attention launched on work lists, without wrappers and their planner."""

from __future__ import annotations

import math
from typing import Any

import torch

from fictl.kernels.attention._config import Config
from fictl.kernels.attention.decode.jit import module as cuda_cores
from fictl.kernels.attention.prefill.jit import module as tensor_cores
from fictl.op import KernelModule

from .reference import Shape, Sums
from .work_lists import WorkList

BY_TENSOR_CORES, BY_CUDA_CORES = KernelModule(tensor_cores), KernelModule(cuda_cores)
FREQUENCIES = (1.0, 1e4)  # scale and theta


def shape_of(config: Config, group: int, **others: Any) -> Shape:
    return Shape(
        config.head_dim,
        2 * group,
        2,
        config.q,
        config.kv if config.kv != config.q else None,
        dim_v=config.head_dim_v,
        **others,
    )


def attend(
    config: Config,
    work: WorkList,
    *,
    sinks: torch.Tensor | None = None,
    v_scale: float = 1.0,
    soft_cap: float = 0.0,
    copied: torch.Tensor | None = None,
) -> Sums:
    """Run a kernel over a list of work.

    `copied` is the list on the host; that on the device holds nothing yet.
    """
    batch, shape = work.batch, work.batch.shape
    kernel = BY_TENSOR_CORES if config.tensor_cores else BY_CUDA_CORES
    if config.paged:
        hnd = shape.layout == "HND"
        k, v = batch.caches()
        pages, page_size = batch.page_table()[1].to(batch.device), shape.page_size
    else:
        hnd = shape.layout == "HND"
        (k, v), pages, page_size = batch.ragged(), None, 0
    results = (*batch.q.shape[:2], config.head_dim_v)
    out = torch.full(results, torch.nan, dtype=config.o, device=batch.device)
    lse = torch.full(batch.q.shape[:2], torch.nan, device=batch.device)
    rows = max(work.partial_rows, 1) * shape.kv_heads
    room = torch.full((rows * config.head_dim_v,), torch.nan, device=batch.device)
    sums = torch.full((rows,), torch.nan, device=batch.device)
    items, merges = work.tensors()
    if copied is not None:  # As WorkList.place lays them.
        both = torch.zeros(items.numel() + merges.numel(), dtype=torch.int32, device=batch.device)
        parts = both.split([items.numel(), merges.numel()])
        items, merges = parts[0].view_as(items), parts[1].view_as(merges)
    kernel[config].attend(
        "decode",
        out,
        lse,
        batch.q,
        k,
        v,
        pages,
        page_size,
        hnd,
        items,
        merges,
        copied,
        room,
        sums,
        None,
        None,
        sinks,
        *(None, None, None),
        1 / math.sqrt(shape.dim),
        v_scale,
        soft_cap,
        work.window_left,
        work.causal,
        *FREQUENCIES,
        None,
        True,
        0,
    )
    return out, lse
