"""Sizes of fused all-reduces: hidden sizes of models; decode steps, and prefills of some tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.distributed as dist

from fictl.bench import Ranks
from fictl.trace import Case

from .._peers_bench import flashinfer_norm

_TOKENS = (1, 16, 64, 128, 512, 2048)
_HIDDEN = (4096, 7168)


def cases() -> Iterator[Case]:
    for dtype in ("float16", "bfloat16", "float32"):
        yield Case("all_reduce_norm", {"tokens": 3, "hidden": 264}, dtype)
    for hidden in _HIDDEN:
        for tokens in _TOKENS:
            yield Case("all_reduce_norm", {"tokens": tokens, "hidden": hidden}, "bfloat16")
    for tokens, hidden in ((3, 264), (16, 7168), (128, 7168)):
        sizes = {"tokens": tokens, "hidden": hidden}
        yield Case("moe_reduce_all_reduce_norm", {**sizes, "count": 8}, "bfloat16")
        yield Case(
            "moe_finalize_all_reduce_norm", {**sizes, "rows": 8 * tokens, "top_k": 8}, "bfloat16"
        )


def ranks() -> Ranks:
    return Ranks("all_reduce", of="residual")


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    if function == "all_reduce_norm":
        return {"torch": _torch, "flashinfer": flashinfer_norm}
    return {"torch": _reduced if function == "moe_reduce_all_reduce_norm" else _finalized}


def _torch(
    input: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
) -> Callable[[], tuple[torch.Tensor, torch.Tensor]]:
    """Sum by torch.distributed (nccl, or gloo on the emulated device), then add and normalize."""
    return lambda: _normalized(input.clone(), residual, weight, eps)


def _reduced(
    experts: torch.Tensor,
    scales: torch.Tensor,
    input: torch.Tensor,
    residual: torch.Tensor,
    weight: torch.Tensor,
    eps: float,
) -> Callable[[], tuple[torch.Tensor, torch.Tensor]]:
    def run() -> tuple[torch.Tensor, torch.Tensor]:
        part = (experts * scales.unsqueeze(-1)).sum(0) + input
        return _normalized(part.to(input.dtype), residual, weight, eps)

    return run


def _finalized(
    experts: torch.Tensor,
    places: torch.Tensor,
    scales: torch.Tensor,
    residual: torch.Tensor,
    weight: torch.Tensor,
    eps: float,
) -> Callable[[], tuple[torch.Tensor, torch.Tensor]]:
    def run() -> tuple[torch.Tensor, torch.Tensor]:
        rows = experts[places.clamp(min=0)] * ((places >= 0) * scales).unsqueeze(-1)
        return _normalized(rows.sum(1).to(experts.dtype), residual, weight, eps)

    return run


def _normalized(
    part: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    if dist.is_initialized():
        dist.all_reduce(part)
    added = part + residual
    return torch.nn.functional.rms_norm(added, weight.shape, weight, eps), added
