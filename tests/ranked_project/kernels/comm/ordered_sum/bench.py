"""Sizes of ordered_sum, which all ranks call together: a decode step, a prefill."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.distributed as dist

from fictl.bench import Ranks
from fictl.trace import Case


def cases() -> Iterator[Case]:
    for n in (1 << 10, 1 << 14, 1 << 20, 1 << 24):
        yield Case("ordered_sum", {"n": n}, "float32")


def ranks() -> Ranks:
    return Ranks("all_reduce")


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _all_reduce}


def _all_reduce(x: torch.Tensor) -> Callable[[], torch.Tensor]:
    """Sum by torch.distributed: nccl on GPUs, gloo on the emulated device."""
    out = torch.empty_like(x)

    def run() -> torch.Tensor:
        dist.all_reduce(out.copy_(x))
        return out

    return run
