"""l2_norm: sqrt(sum(x * x)), of every row."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def l2_norm(x: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Compute sqrt(sum(x * x)) of every row, rounded once.

    The computation is in fp32. What a row gives does not depend on other rows.

    x: (rows, cols); last dimension contiguous, all rows at one stride.
    out: (rows,), contiguous, of x's dtype. None allocates it.
    """
    if out is None:
        out = x.new_empty(x.shape[:-1])
    workspace = x.new_empty(kernel.l2_norm_workspace(x), dtype=torch.uint8)
    kernel.l2_norm(out, x, workspace)
    return out
