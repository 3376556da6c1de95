"""Sizes of reduce_scatter: the input has 64 KiB to 64 MiB; a decode step, a prefill of a layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.distributed as dist

from fictl.bench import Ranks
from fictl.trace import Case

# Rows of 8 KiB, which up to 8 ranks have parts of.
_ROWS = (8, 32, 128, 512, 2048, 8192)


def cases() -> Iterator[Case]:
    yield Case("reduce_scatter", {"ranks": 1, "all_rows": 3, "hidden": 111}, "float32")
    for rows in _ROWS:
        yield Case("reduce_scatter", {"ranks": 1, "all_rows": rows, "hidden": 4096}, "bfloat16")


def ranks() -> Ranks:
    return Ranks("reduce_scatter", of="input", axis="ranks")


def baselines() -> dict[str, Callable[..., Any]]:
    return {"torch": _torch}


def _torch(input: torch.Tensor) -> Callable[[], torch.Tensor]:
    """Reduce by torch.distributed: nccl on GPUs; gloo, on the emulated device, adds all of it."""
    if not dist.is_initialized():
        return input.clone
    size, rank = dist.get_world_size(), dist.get_rank()
    out = input.new_empty((input.shape[0] // size, *input.shape[1:]))
    # torch 2.13 has given it another name.
    scatter = getattr(dist, "reduce_scatter_single", dist.reduce_scatter_tensor)

    def run() -> torch.Tensor:
        if dist.get_backend() == "nccl":
            scatter(out, input)
        else:
            total = input.clone()
            dist.all_reduce(total)
            out.copy_(total.chunk(size)[rank])
        return out

    return run
