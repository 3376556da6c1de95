"""Trace of all_reduce. The reference runs on every rank, too, and adds in the ranks' order."""

from __future__ import annotations

import torch
import torch.distributed as dist

from fictl.trace import Tensor, TraceTemplate, Var


def _all_reduce(input: torch.Tensor) -> torch.Tensor:
    if not dist.is_initialized():
        return input.clone()
    parts = [torch.empty_like(input) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, input)
    return torch.stack(parts).sum(0)


all_reduce = TraceTemplate(
    axes={"n": Var("elements")},
    inputs={"input": Tensor(("n",))},
    outputs={"out": Tensor(("n",), dtype_from="input")},
    reference=_all_reduce,
    extremes=("zeros", "small", "large", "nonfinite"),
    at_default=("workspace", "strategy"),
    op_type="comm",
    description="The sum of the inputs of all ranks, with the same bits on each of them.",
)
