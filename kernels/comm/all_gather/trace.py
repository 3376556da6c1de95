"""Trace of all_gather. The reference runs on every rank, too."""

from __future__ import annotations

import torch
import torch.distributed as dist

from fictl.trace import Const, Expr, Tensor, TraceTemplate, Var


def _all_gather(input: torch.Tensor) -> torch.Tensor:
    if not dist.is_initialized():
        return input.clone()
    parts = [torch.empty_like(input) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, input)
    return torch.cat(parts)


all_gather = TraceTemplate(
    axes={
        "ranks": Var("ranks of the group"),
        "rows": Var("rows of each rank"),
        "hidden": Const("values a row", "h"),
        "all_rows": Expr("ranks * rows", "rows of all ranks"),
    },
    inputs={"input": Tensor(("rows", "hidden"))},
    outputs={"out": Tensor(("all_rows", "hidden"), dtype_from="input")},
    reference=_all_gather,
    extremes=("zeros", "small", "large", "nonfinite"),
    at_default=("workspace",),
    op_type="comm",
    description="The inputs of all ranks, one after another.",
)
