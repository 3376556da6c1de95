"""swiglu: x * sigmoid(gate), element by element."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def swiglu(x: torch.Tensor, gate: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Compute x * sigmoid(gate), rounded once from fp32.

    x: any shape; dense in any order of its dimensions, or rows at one stride.
    gate: like x.
    out: like x; may be an input itself. None allocates it.
    """
    if out is None:
        out = torch.empty_like(x)
    kernel.swiglu(out, x, gate)
    return out
