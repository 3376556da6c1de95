"""rmsnorm: divide every row by the root of its mean square. With a residual added, quantized."""

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


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def gemma_rmsnorm(
    input: torch.Tensor,
    weight: torch.Tensor,
    eps: float = 1e-6,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """input / sqrt(mean(input^2) + eps) * (1 + weight) over the last dimension, rounded once from
    fp32.

    input: (rows, hidden) or (tokens, heads, hidden), as in rmsnorm.
    weight: (hidden,), contiguous, of input's dtype: how far each factor is from 1.
    eps: a number.
    out: like input; may be input itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
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
    """residual += input, then input = residual / sqrt(mean(residual^2) + eps) * weight, from the
    sum in fp32: each is rounded once.

    input: (rows, hidden) or (tokens, heads, hidden), as in rmsnorm; replaced by the result.
    residual: like input, its rows at any pitch; replaced by the sum.
    weight: (hidden,), contiguous, of input's dtype.
    eps: a number.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
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
    """residual += input, then input = residual / sqrt(mean(residual^2) + eps) * (1 + weight), from
    the sum in fp32: each is rounded once.

    input: (rows, hidden) or (tokens, heads, hidden), as in rmsnorm; replaced by the result.
    residual: like input, its rows at any pitch; replaced by the sum.
    weight: (hidden,), contiguous, of input's dtype: how far each factor is from 1.
    eps: a number.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
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
    """out = input / sqrt(mean(input^2) + eps) * weight / scale, rounded once from fp32, and the
    largest number of its dtype where it is beyond that.

    out: input's shape, float8_e4m3fn or float8_e5m2; its rows at any pitch.
    input: (rows, hidden) or (tokens, heads, hidden), as in rmsnorm.
    weight: (hidden,), contiguous, of input's dtype.
    scale: a number, or one of float32 in a tensor, which is read on the GPU.
    eps: a number.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
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
    """residual += input, then out = residual / sqrt(mean(residual^2) + eps) * weight / scale, from
    the sum in fp32; out is the largest number of its dtype where it would be beyond that.

    out: input's shape, float8_e4m3fn or float8_e5m2; its rows at any pitch.
    input: (rows, hidden) or (tokens, heads, hidden), as in rmsnorm.
    residual: like input, its rows at any pitch; replaced by the sum, rounded once.
    weight: (hidden,), contiguous, of input's dtype.
    scale: a number, or one of float32 in a tensor, which is read on the GPU.
    eps: a number.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """
    scale = scale_tensor(scale, input)
    enable_pdl = enable_pdl is None or enable_pdl
    kernel.fused_add_rmsnorm_quant(out, input, residual, weight, scale, eps, enable_pdl)
