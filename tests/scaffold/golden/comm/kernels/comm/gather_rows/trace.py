"""Trace of gather_rows. The reference runs on every rank, too."""

from __future__ import annotations

import torch
import torch.distributed as dist

from fictl.trace import Const, Expr, Tensor, TraceTemplate, Var


def _reference(x: torch.Tensor) -> torch.Tensor:
    if not dist.is_initialized():
        return x.clone()
    parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, x.contiguous())
    return torch.cat(parts)


gather_rows = TraceTemplate(
    axes={
        "ranks": Var("ranks of the group"),
        "rows": Var("rows of each rank"),
        "cols": Const("elements of a row"),
        "all_rows": Expr("ranks * rows", "rows of all ranks"),
    },
    inputs={"x": Tensor(("rows", "cols"))},
    outputs={"out": Tensor(("all_rows", "cols"), dtype_from="x")},
    reference=_reference,
    extremes=("zeros", "small", "large", "nonfinite"),
    at_default=("workspace",),
    op_type="comm",
    description="Several GPUs: every rank gets the inputs of all, over memory that they share.",
)
