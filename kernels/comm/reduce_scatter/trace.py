"""Trace of reduce_scatter. The reference runs on every rank, too."""

from __future__ import annotations

import torch
import torch.distributed as dist

from fictl.trace import Const, Expr, Tensor, TraceTemplate, Var


def _reduce_scatter(input: torch.Tensor) -> torch.Tensor:
    if not dist.is_initialized():
        return input.clone()
    every = [torch.empty_like(input) for _ in range(dist.get_world_size())]
    dist.all_gather(every, input)
    return torch.stack(every).sum(0).chunk(len(every))[dist.get_rank()]


reduce_scatter = TraceTemplate(
    axes={
        "ranks": Var("ranks of the group"),
        "all_rows": Var("rows of all ranks"),
        "hidden": Const("values a row", "h"),
        "rows": Expr("all_rows // ranks", "rows of each rank"),
    },
    inputs={"input": Tensor(("all_rows", "hidden"))},
    outputs={"out": Tensor(("rows", "hidden"), dtype_from="input")},
    reference=_reduce_scatter,
    at_default=("workspace",),
    op_type="comm",
    description="Sum over the ranks, of which each gets its part.",
)
