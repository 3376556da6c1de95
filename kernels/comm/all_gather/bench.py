"""Sizes of all_gather: the output has 4 KiB to 64 MiB; a decode step, a prefill of a layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.distributed as dist

from fictl.bench import Ranks
from fictl.trace import Case

# Rows of each of one rank's 4096 values: 8 KiB each.
_ROWS = (1, 4, 16, 64, 256, 1024, 4096)


def cases() -> Iterator[Case]:
    yield Case("all_gather", {"ranks": 1, "rows": 3, "hidden": 111}, "float32")
    for rows in _ROWS:
        yield Case("all_gather", {"ranks": 1, "rows": rows, "hidden": 4096}, "bfloat16")


def ranks() -> Ranks:
    return Ranks("all_gather", of="out", axis="ranks")


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _torch}


def _torch(input: torch.Tensor) -> Callable[[], torch.Tensor]:
    """Gather by torch.distributed: nccl on GPUs, gloo on the emulated device."""
    if not dist.is_initialized():
        return input.clone
    out = input.new_empty((dist.get_world_size() * input.shape[0], *input.shape[1:]))

    # torch 2.13 has given it another name.
    gather = getattr(dist, "all_gather_single", dist.all_gather_into_tensor)

    def run() -> torch.Tensor:
        gather(out, input)
        return out

    return run
