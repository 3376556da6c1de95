"""head_scale: x * weight * factor, element by element."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

from .jit import module

kernel = KernelModule(module)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def head_scale(
    x: torch.Tensor, weight: torch.Tensor, factor: float, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Compute x * weight * factor, rounded once from fp32.

    Each dtype and length of a row is a module of its own, compiled when it is first called.

    x: (tokens, heads, head_dim); last dimension contiguous, all rows at one stride.
    weight: (head_dim,), contiguous, of x's dtype.
    factor: a number.
    out: like x; may be x itself. None allocates it.
    """
    if out is None:
        out = torch.empty_like(x)
    built = kernel[x.dtype, x.shape[-1]]
    built.head_scale(out, x, weight, factor)
    return out
