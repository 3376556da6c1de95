"""act_and_mul: gated activations of a feed-forward layer, activation(gate) * up."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def silu_and_mul(
    input: torch.Tensor, out: torch.Tensor | None = None, enable_pdl: bool | None = None
) -> torch.Tensor:
    """Compute silu(input[..., :hidden]) * input[..., hidden:], rounded once from fp32.

    input: (..., 2 * hidden); last dimension contiguous, all rows at one stride.
    out: (..., hidden), all rows at one stride; may be input[..., :hidden] or input[..., hidden:].
        None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if out is None:
        out = _half_of(input)
    kernel.silu_and_mul(out, input, enable_pdl is None or enable_pdl)
    return out


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def gelu_tanh_and_mul(
    input: torch.Tensor, out: torch.Tensor | None = None, enable_pdl: bool | None = None
) -> torch.Tensor:
    """Compute gelu(input[..., :hidden]) * input[..., hidden:], gelu approximated by tanh.

    Rounded once from fp32.

    input: (..., 2 * hidden); last dimension contiguous, all rows at one stride.
    out: (..., hidden), all rows at one stride; may be input[..., :hidden] or input[..., hidden:].
        None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if out is None:
        out = _half_of(input)
    kernel.gelu_tanh_and_mul(out, input, enable_pdl is None or enable_pdl)
    return out


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def gelu_and_mul(
    input: torch.Tensor, out: torch.Tensor | None = None, enable_pdl: bool | None = None
) -> torch.Tensor:
    """Compute gelu(input[..., :hidden]) * input[..., hidden:], gelu by the error function.

    input: (..., 2 * hidden); last dimension contiguous, all rows at one stride.
    out: (..., hidden), all rows at one stride; may be input[..., :hidden] or input[..., hidden:].
        None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if out is None:
        out = _half_of(input)
    kernel.gelu_and_mul(out, input, enable_pdl is None or enable_pdl)
    return out


def _half_of(input: torch.Tensor) -> torch.Tensor:
    shape = input.shape
    return input.new_empty((*shape[:-1], shape[-1] // 2))
