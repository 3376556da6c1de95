"""rmsnorm: divide every row by the root of its mean square."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

from .jit import module

kernel = KernelModule(module)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def rmsnorm(
    input: torch.Tensor,
    weight: torch.Tensor,
    eps: float = 1e-6,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """input / sqrt(mean(input^2) + eps) * weight over the last dimension, rounded once from fp32.

    input: (rows, hidden) or (tokens, heads, hidden); the elements of a row are neighbours, the
        rows at any pitch. What a row gives does not depend on the other rows.
    weight: (hidden,), contiguous, of input's dtype.
    eps: a number.
    out: like input; may be input itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """
    if out is None:
        out = torch.empty_like(input)
    kernel.rmsnorm(out, input, weight, eps, enable_pdl is None or enable_pdl)
    return out
