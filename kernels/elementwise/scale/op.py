"""scale: multiply every element by one number."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def scale(input: torch.Tensor, factor: float, out: torch.Tensor | None = None) -> torch.Tensor:
    """Compute input * factor, rounded once from fp32.

    input: any shape; dense in any order of its dimensions, or rows at one stride.
    factor: a number.
    out: like input; may be input itself. None allocates it.
    """
    if out is None:
        out = torch.empty_like(input)
    kernel.scale(out, input, factor)
    return out
