"""Sizes of all_reduce: 4 KiB to 64 MiB, as decode steps and prefills have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.distributed as dist

from fictl.bench import Ranks
from fictl.trace import Case

from .._peers_bench import flashinfer_all_reduce, symmetric_all_reduce

_KIB = 1 << 10
_BYTES = tuple(4 * _KIB << step for step in range(15))


def cases() -> Iterator[Case]:
    for n in (1, 8, 1001):
        for dtype in ("float16", "bfloat16", "float32"):
            yield Case("all_reduce", {"n": n}, dtype)
    for nbytes in _BYTES:
        yield Case("all_reduce", {"n": nbytes // 2}, "bfloat16")


def ranks() -> Ranks:
    return Ranks("all_reduce")


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _torch, "symmetric": symmetric_all_reduce, "flashinfer": flashinfer_all_reduce}


def _torch(input: torch.Tensor) -> Callable[[], torch.Tensor]:
    """Sum by torch.distributed: nccl on GPUs, gloo on the emulated device."""
    if not dist.is_initialized():
        return input.clone
    out = input.clone()

    def run() -> torch.Tensor:
        dist.all_reduce(out.copy_(input))
        return out

    return run
