"""layernorm and layernorm_quant: subtract each row's mean, divide by its standard deviation."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

from .._scale import scale_tensor

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def layernorm(
    input: torch.Tensor,
    gemma: torch.Tensor,
    beta: torch.Tensor,
    eps: float = 1e-6,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Compute (input - mean) / sqrt(variance + eps) * gemma + beta over the last dimension.

    Rounded once from fp32. The result of a row does not depend on the other rows.

    input: (..., hidden); last dimension contiguous, all rows at one stride.
    gemma: (hidden,), contiguous, float32: the weight, often called gamma.
    beta: (hidden,), contiguous, float32: the bias.
    eps: added to the variance.
    out: like input; may be input itself. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if out is None:
        out = torch.empty_like(input)
    kernel.layernorm(out, input, gemma, beta, eps, enable_pdl is None or enable_pdl)
    return out


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def layernorm_quant(
    out: torch.Tensor,
    input: torch.Tensor,
    gemma: torch.Tensor,
    beta: torch.Tensor,
    scale: float | torch.Tensor,
    eps: float = 1e-6,
    *,
    enable_pdl: bool | None = None,
) -> None:
    """Compute layernorm / scale in fp8, rounded once and clamped to the range of out's dtype.

    out: (..., hidden), float8_e4m3fn or float8_e5m2; all rows at one stride.
    input: the shape of out; last dimension contiguous, all rows at one stride.
    gemma: (hidden,), contiguous, float32: the weight, often called gamma.
    beta: (hidden,), contiguous, float32: the bias.
    scale: a number, or a float32 tensor of one element, which the kernel reads.
    eps: added to the variance.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    kernel.layernorm_quant(
        out,
        input,
        gemma,
        beta,
        scale_tensor(scale, input),
        eps,
        enable_pdl is None or enable_pdl,
    )
