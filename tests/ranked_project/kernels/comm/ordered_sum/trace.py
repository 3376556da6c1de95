"""Trace of ordered_sum. The reference runs on every rank, too, in fp64."""

from __future__ import annotations

import torch
import torch.distributed as dist

from fictl.trace import Tensor, TraceTemplate, Var


def _reference(x: torch.Tensor) -> torch.Tensor:
    total = x.clone()
    if dist.is_initialized():
        dist.all_reduce(total)
    return total


ordered_sum = TraceTemplate(
    axes={"n": Var("elements")},
    inputs={"x": Tensor(("n",))},
    outputs={"out": Tensor(("n",), dtype_from="x")},
    reference=_reference,
    description="Sum over the ranks.",
)
