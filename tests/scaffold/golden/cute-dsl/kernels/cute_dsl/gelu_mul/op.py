"""gelu_mul: gelu(x) * gate * factor, element by element."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=8.0", dtypes="f16 bf16 f32", devices="cuda", mutates="out")
def gelu_mul(
    x: torch.Tensor, gate: torch.Tensor, factor: float, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Compute gelu(x) * gate * factor, rounded once from fp32.

    x: any shape; dense in any order of its dimensions, or rows at one stride.
    gate: like x.
    factor: a number.
    out: like x; may be an input itself. None allocates it.
    """
    if out is None:
        out = torch.empty_like(x)
    kernel.gelu_mul(out, x, gate, factor)
    return out
