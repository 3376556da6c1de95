"""All-reduces of others, as benchmarks compare with them: torch's symmetric memory, FlashInfer."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import torch
import torch.distributed as dist

_ONE_SHOT_BYTES = 1 << 18
# Rows as FlashInfer takes them, and how many its workspaces have room for: making one takes long.
_HIDDEN = 4096
_ROWS = 8192


def symmetric_all_reduce(input: torch.Tensor) -> Callable[[], torch.Tensor]:
    """Sum in torch's symmetric memory, with the copy there: in one hop where bytes are few."""
    if not dist.is_initialized():
        return input.clone
    operations: Any = torch.ops.symm_mem
    name = dist.group.WORLD.group_name  # type: ignore[union-attr]
    buffer = _symmetric_buffer(input.numel(), input.dtype, input.device, name).view(input.shape)
    is_small = input.nbytes <= _ONE_SHOT_BYTES
    sums = operations.one_shot_all_reduce if is_small else operations.two_shot_all_reduce_

    def run() -> torch.Tensor:
        buffer.copy_(input)
        result: torch.Tensor = sums(buffer, "sum", name)
        return result

    return run


# Why one for all copies of a case: ranks meet to make it, and each is a page of 2 MiB.
@cache
def _symmetric_buffer(
    elements: int, dtype: torch.dtype, device: torch.device, group: str
) -> torch.Tensor:
    memory: Any = import_module("torch.distributed._symmetric_memory")
    buffer: torch.Tensor = memory.empty(elements, dtype=dtype, device=device)
    memory.rendezvous(buffer, group=group)
    return buffer


def flashinfer_all_reduce(input: torch.Tensor) -> Callable[[], torch.Tensor]:
    """Call FlashInfer's kernels over CUDA IPC; of numbers that are no rows, one row."""
    hidden = _HIDDEN if input.numel() % _HIDDEN == 0 else input.numel()
    rows = input.view(-1, hidden)
    out = torch.empty_like(rows)
    comm: Any = import_module("flashinfer.comm")
    workspace = _workspace(hidden, input.dtype)
    pattern = comm.AllReduceFusionPattern.kAllReduce

    def run() -> torch.Tensor:
        comm.allreduce_fusion(rows, workspace, pattern, launch_with_pdl=True, output=out)
        return out.view(input.shape)

    return run


def flashinfer_norm(
    input: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
) -> Callable[[], tuple[torch.Tensor, torch.Tensor]]:
    """Call FlashInfer's fusion with residual and norm."""
    out, added = torch.empty_like(input), torch.empty_like(input)
    comm: Any = import_module("flashinfer.comm")
    workspace = _workspace(input.shape[1], input.dtype)
    pattern = comm.AllReduceFusionPattern.kARResidualRMSNorm

    def run() -> tuple[torch.Tensor, torch.Tensor]:
        comm.allreduce_fusion(
            input,
            workspace,
            pattern,
            launch_with_pdl=True,
            residual_in=residual,
            residual_out=added,
            norm_out=out,
            rms_gamma=weight,
            rms_eps=eps,
        )
        return out, added

    return run


@cache
def _workspace(hidden: int, dtype: torch.dtype) -> Any:
    return import_module("flashinfer.comm").create_allreduce_fusion_workspace(
        backend="trtllm",
        world_size=dist.get_world_size(),
        rank=dist.get_rank(),
        max_token_num=_ROWS,
        hidden_dim=hidden,
        dtype=dtype,
    )
