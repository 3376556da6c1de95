"""rmsnorm: divide every row by the root of its mean square; with a residual added, or quantized."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

from .._scale import scale_tensor

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def rmsnorm(
    input: torch.Tensor,
    weight: torch.Tensor,
    eps: float = 1e-6,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Compute input / sqrt(mean(input^2) + eps) * weight over the last dimension.

    Rounded once from fp32. The result of a row does not depend on the other rows.

    input: (rows, hidden) or (tokens, heads, hidden); last dimension contiguous, any row stride.
    weight: (hidden,), contiguous, of input's dtype.
    eps: added to the mean square.
    out: like input; may be input itself. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if out is None:
        out = torch.empty_like(input)
    kernel.rmsnorm(out, input, weight, eps, enable_pdl is None or enable_pdl)
    return out


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def gemma_rmsnorm(
    input: torch.Tensor,
    weight: torch.Tensor,
    eps: float = 1e-6,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Compute input / sqrt(mean(input^2) + eps) * (1 + weight) over the last dimension.

    Rounded once from fp32.

    input: (rows, hidden) or (tokens, heads, hidden), as in rmsnorm.
    weight: (hidden,), contiguous, of input's dtype: the difference of each factor from 1.
    eps: added to the mean square.
    out: like input; may be input itself. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if out is None:
        out = torch.empty_like(input)
    kernel.gemma_rmsnorm(out, input, weight, eps, enable_pdl is None or enable_pdl)
    return out


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="input residual")
def fused_add_rmsnorm(
    input: torch.Tensor,
    residual: torch.Tensor,
    weight: torch.Tensor,
    eps: float = 1e-6,
    enable_pdl: bool | None = None,
) -> None:
    """Add input to residual, and replace input by the rmsnorm of the sum.

    Both are computed from the sum in fp32 and rounded once.

    input: (rows, hidden) or (tokens, heads, hidden), as in rmsnorm.
    residual: like input, any row stride; replaced by the sum.
    weight: (hidden,), contiguous, of input's dtype.
    eps: added to the mean square.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    kernel.fused_add_rmsnorm(input, residual, weight, eps, enable_pdl is None or enable_pdl)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="input residual")
def gemma_fused_add_rmsnorm(
    input: torch.Tensor,
    residual: torch.Tensor,
    weight: torch.Tensor,
    eps: float = 1e-6,
    enable_pdl: bool | None = None,
) -> None:
    """Add input to residual, and replace input by the gemma_rmsnorm of the sum.

    Both are computed from the sum in fp32 and rounded once.

    input: (rows, hidden) or (tokens, heads, hidden), as in rmsnorm.
    residual: like input, any row stride; replaced by the sum.
    weight: (hidden,), contiguous, of input's dtype: the difference of each factor from 1.
    eps: added to the mean square.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    kernel.gemma_fused_add_rmsnorm(input, residual, weight, eps, enable_pdl is None or enable_pdl)


@op(archs=">=7.5", dtypes="f16 bf16", devices="cuda emu", mutates="out")
def rmsnorm_quant(
    out: torch.Tensor,
    input: torch.Tensor,
    weight: torch.Tensor,
    scale: float | torch.Tensor,
    eps: float = 1e-6,
    enable_pdl: bool | None = None,
) -> None:
    """Compute rmsnorm / scale in fp8, rounded once and clamped to the range of out's dtype.

    out: input's shape, float8_e4m3fn or float8_e5m2; last dimension contiguous, any row stride.
    input: (rows, hidden) or (tokens, heads, hidden), as in rmsnorm.
    weight: (hidden,), contiguous, of input's dtype.
    scale: a number, or a float32 tensor of one element, which the kernel reads.
    eps: added to the mean square.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    scale = scale_tensor(scale, input)
    kernel.rmsnorm_quant(out, input, weight, scale, eps, enable_pdl is None or enable_pdl)


@op(archs=">=7.5", dtypes="f16 bf16", devices="cuda emu", mutates="out residual")
def fused_add_rmsnorm_quant(
    out: torch.Tensor,
    input: torch.Tensor,
    residual: torch.Tensor,
    weight: torch.Tensor,
    scale: float | torch.Tensor,
    eps: float = 1e-6,
    enable_pdl: bool | None = None,
) -> None:
    """Add input to residual, and write the rmsnorm of the sum, divided by scale, to out in fp8.

    Both are computed from the sum in fp32; out is clamped to the range of its dtype.

    out: input's shape, float8_e4m3fn or float8_e5m2; last dimension contiguous, any row stride.
    input: (rows, hidden) or (tokens, heads, hidden), as in rmsnorm.
    residual: like input, any row stride; replaced by the sum, rounded once.
    weight: (hidden,), contiguous, of input's dtype.
    scale: a number, or a float32 tensor of one element, which the kernel reads.
    eps: added to the mean square.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    scale = scale_tensor(scale, input)
    enable_pdl = enable_pdl is None or enable_pdl
    kernel.fused_add_rmsnorm_quant(out, input, residual, weight, scale, eps, enable_pdl)
