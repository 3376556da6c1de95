"""Sizes of decode_cp_a2a: 16 to 128 requests with the heads of MLA."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.distributed as dist

from fictl.bench import Ranks
from fictl.trace import Case

_LN_2 = 0.6931471805599453


def cases() -> Iterator[Case]:
    for rows, head_dim in ((3, 8), (16 * 64, 512), (128 * 64, 512)):
        sizes = {"rows": rows, "ranks": 1, "head_dim": head_dim}
        yield Case("decode_cp_a2a_lse_reduce", sizes, "bfloat16")
        yield Case("decode_cp_a2a_alltoall", {**sizes, "stats": 2}, "bfloat16")


def ranks() -> Ranks:
    return Ranks("all_to_all", of="partial_o", axis="ranks")


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    return {"torch": _reduced if function == "decode_cp_a2a_lse_reduce" else _exchanged}


def _sent_here(x: torch.Tensor) -> torch.Tensor:
    """Exchange by torch.distributed: nccl on GPUs; gloo, on the emulated device, gathers all."""
    if not dist.is_initialized():
        return x.clone()
    if dist.get_backend() == "nccl":
        sent = x.transpose(0, 1).contiguous()
        received = torch.empty_like(sent)
        dist.all_to_all_single(received, sent)
        return received.transpose(0, 1)
    every = [torch.empty_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(every, x)
    return torch.stack([one[:, dist.get_rank()] for one in every], 1)


def _exchanged(partial_o: torch.Tensor, softmax_stats: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return _sent_here(partial_o).contiguous(), _sent_here(softmax_stats).contiguous()


def _reduced(partial_o: torch.Tensor, partial_lse: torch.Tensor) -> torch.Tensor:
    weights = torch.softmax(_sent_here(partial_lse) * _LN_2, -1)
    return (weights.unsqueeze(-1) * _sent_here(partial_o).float()).sum(-2).to(partial_o.dtype)
