"""prefix_sum: prefix sums of every row."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def prefix_sum(
    x: torch.Tensor, exclusive: bool = False, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Compute the prefix sums of every row, as torch.cumsum along the last dimension.

    Sums are in fp32, and rounded once.
    What a row gives does not depend on other rows.

    x: (rows, cols); last dimension contiguous, all rows at one stride.
    exclusive: each sum is without its own element; the first one is 0.
    out: like x, at any row stride; may be x. None allocates it.
    """
    if out is None:
        out = x.new_empty(x.shape)
    workspace = x.new_empty(kernel.prefix_sum_workspace(x), dtype=torch.uint8)
    kernel.prefix_sum(out, x, workspace, exclusive)
    return out
