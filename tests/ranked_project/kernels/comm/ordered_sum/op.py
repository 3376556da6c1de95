"""ordered_sum: the sum over the ranks, with the same bits on each of them."""

from __future__ import annotations

import torch
import torch.distributed as dist

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f32", devices="cuda emu", mutates="out")
def ordered_sum(x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Sum x over all ranks of the default group, in the order of the ranks.

    x: one dimension, of one size on every rank.
    out: like x, contiguous; None allocates it.
    """
    if out is None:
        out = torch.empty_like(x)
    kernel.ordered_sum(out, gathered(x))
    return out


def gathered(x: torch.Tensor) -> torch.Tensor:
    """Return x of all ranks, one row each; without a group, its own alone."""
    x = x.contiguous()
    if not dist.is_initialized():
        return x.unsqueeze(0)
    rows = torch.empty((dist.get_world_size(), *x.shape), dtype=x.dtype, device=x.device)
    dist.all_gather([*rows], x)
    return rows
