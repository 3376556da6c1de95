"""swiglu: x * sigmoid(gate), element by element."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs="9.0a", dtypes="bf16", devices="cuda emu", mutates="out")
def swiglu(x: torch.Tensor, gate: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """Compute x * sigmoid(gate), rounded once from fp32.

    x: (rows, cols); last dimension contiguous, all rows at one stride, which is a
        multiple of 16 bytes.
    gate: like x.
    out: like x; may be x or gate itself. None allocates it.
    """
    if out is None:
        out = _like(x)
    else:
        _check_row_ends(out)
    kernel.swiglu(out, x, gate)
    return out


def _check_row_ends(out: torch.Tensor) -> None:
    """Refuse rows that end within 16 bytes: bulk stores write all of them."""
    row_bytes = out.shape[-1] * out.element_size() if out.dim() else 0
    if row_bytes % 16:
        raise ValueError(
            f"swiglu: argument 'out' has rows of {row_bytes} bytes; bulk stores write whole 16 "
            "bytes, and what follows each row: pass None, or rows of a multiple of 16 bytes"
        )


def _like(x: torch.Tensor) -> torch.Tensor:
    """Allocate a tensor like x, whose rows begin at multiples of 16 bytes."""
    step = 16 // x.element_size()
    columns = x.shape[-1] if x.dim() else 0
    if columns % step == 0:
        return torch.empty_like(x)
    return x.new_empty((*x.shape[:-1], -(-columns // step) * step))[..., :columns]
