"""rmsnorm of a sum in fp8, with a scale for each block of 128 values."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(
    archs=">=7.5",
    dtypes="f16 bf16",
    devices="cuda emu",
    mutates="out block_scale normed_out residual",
)
def fused_add_rmsnorm_fp8_block_quant(
    out: torch.Tensor,
    block_scale: torch.Tensor,
    normed_out: torch.Tensor | None,
    input: torch.Tensor,
    residual: torch.Tensor,
    weight: torch.Tensor,
    eps: float = 1e-6,
    enable_pdl: bool | None = None,
) -> None:
    """Add input to residual, and write the rmsnorm of the sum to normed_out, and to out in fp8.

    The norm is computed from the sum in fp32 and rounded once to input's dtype; out is that, divided
    by max(largest magnitude of a block of 128, 1e-4) / 448. A NaN makes its block and scale NaN.
    The result of a row does not depend on the other rows.

    out: (rows, hidden), float8_e4m3fn; last dimension contiguous, any row stride.
    block_scale: (hidden / 128, rows rounded up to a multiple of 4), float32, as block-scaled matrix
        products take it; last dimension contiguous, any stride. What is behind the rows becomes 0.
    normed_out: like input, any row stride; may be input itself. None: not written.
    input: (rows, hidden), hidden a multiple of 128; last dimension contiguous, any row stride.
    residual: like input, any row stride; replaced by the sum, rounded once.
    weight: (hidden,), contiguous, of input's dtype.
    eps: added to the mean square.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    kernel.fused_add_rmsnorm_fp8_block_quant(
        out,
        block_scale,
        normed_out,
        input,
        residual,
        weight,
        eps,
        enable_pdl is None or enable_pdl,
    )
