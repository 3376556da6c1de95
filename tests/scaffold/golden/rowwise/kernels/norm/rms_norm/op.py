"""rms_norm: x * rsqrt(mean(x * x) + eps) * weight, row by row."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def rms_norm(
    x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-06, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Compute x * rsqrt(mean(x * x) + eps) * weight, rounded once.

    The computation is in fp32. What a row gives does not depend on other rows.

    x: (rows, hidden); last dimension contiguous, all rows at one stride.
    weight: (hidden,), contiguous, of x's dtype.
    eps: a number.
    out: like x; may be x itself. None allocates it.
    """
    if out is None:
        out = torch.empty_like(x)
    kernel.rms_norm(out, x, weight, eps)
    return out
