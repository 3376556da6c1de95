"""layernorm and layernorm_quant: take a row's mean away, divide it by its deviation."""

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
    """(input - mean) / sqrt(variance + eps) * gemma + beta over the last dimension, rounded once.

    input: (..., hidden); the elements of a row are neighbours, the rows at one pitch. What a row
        gives does not depend on the other rows.
    gemma: (hidden,), contiguous, float32: the weight, often called gamma.
    beta: (hidden,), contiguous, float32.
    eps: a number.
    out: like input; may be input itself. None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
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
    """What layernorm computes, divided by scale and rounded once, to fp8; the range's ends hold it.

    out: (..., hidden), float8_e4m3fn or float8_e5m2; the rows at one pitch.
    input: like out, of another dtype; the rows at one pitch.
    gemma: (hidden,), contiguous, float32: the weight, often called gamma.
    beta: (hidden,), contiguous, float32.
    scale: a number, or a float32 tensor of one, which is read on the GPU.
    eps: a number.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
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
