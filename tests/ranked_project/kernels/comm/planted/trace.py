"""What they compute."""

from __future__ import annotations

import torch
import torch.distributed as dist

from fictl.trace import Tensor, TraceTemplate, Var


def _sum(x: torch.Tensor) -> torch.Tensor:
    total = x.clone()
    dist.all_reduce(total)
    return total


def _rows(x: torch.Tensor) -> torch.Tensor:
    out = x.new_empty((dist.get_world_size(), *x.shape))
    dist.all_gather([*out], x)
    return out


_summed = TraceTemplate(
    axes={"n": Var("elements")},
    inputs={"x": Tensor(("n",))},
    outputs={"out": Tensor(("n",), dtype_from="x")},
    reference=_sum,
)
right = wrong = unwritten = failing = absent = dying = _summed
gathering = TraceTemplate(
    axes={"ranks": Var("ranks"), "n": Var("elements")},
    inputs={"x": Tensor(("n",))},
    outputs={"out": Tensor(("ranks", "n"), dtype_from="x")},
    reference=_rows,
)
