"""Sizes of gather_rows: a decode step's few rows, and a prefill's many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.distributed as dist

from fictl.bench import Ranks
from fictl.trace import Case

_SIZES = ((3, 111), (1, 4096), (16, 4096), (128, 4096), (1024, 4096), (4096, 4096))


def cases() -> Iterator[Case]:
    for rows, cols in _SIZES:
        sizes = {"ranks": 1, "rows": rows, "cols": cols}
        yield Case("gather_rows", sizes, "bfloat16")


def ranks() -> Ranks:
    return Ranks("all_gather", of="out", axis="ranks")


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _torch}


def _torch(x: torch.Tensor) -> Callable[[], torch.Tensor]:
    """Gather by torch.distributed: nccl on GPUs, gloo on the emulated device."""
    if not dist.is_initialized():
        return x.clone
    parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]

    def run() -> torch.Tensor:
        dist.all_gather(parts, x)
        return torch.cat(parts)

    return run
