"""act_and_mul: the gate of a feed-forward layer, activated, times its up projection."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def silu_and_mul(
    input: torch.Tensor, out: torch.Tensor | None = None, enable_pdl: bool | None = None
) -> torch.Tensor:
    """silu(input[..., :hidden]) * input[..., hidden:], rounded once from fp32.

    input: (..., 2 * hidden); the elements of a row are neighbours, the rows at any one pitch.
    out: (..., hidden), rows at any one pitch; may be input[..., :hidden] or input[..., hidden:].
        None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """
    if out is None:
        out = _half_of(input)
    kernel.silu_and_mul(out, input, enable_pdl is None or enable_pdl)
    return out


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def gelu_tanh_and_mul(
    input: torch.Tensor, out: torch.Tensor | None = None, enable_pdl: bool | None = None
) -> torch.Tensor:
    """gelu(input[..., :hidden]) * input[..., hidden:], with gelu's approximation by tanh.

    Rounded once from fp32.

    input: (..., 2 * hidden); the elements of a row are neighbours, the rows at any one pitch.
    out: (..., hidden), rows at any one pitch; may be input[..., :hidden] or input[..., hidden:].
        None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """
    if out is None:
        out = _half_of(input)
    kernel.gelu_tanh_and_mul(out, input, enable_pdl is None or enable_pdl)
    return out


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out")
def gelu_and_mul(
    input: torch.Tensor, out: torch.Tensor | None = None, enable_pdl: bool | None = None
) -> torch.Tensor:
    """gelu(input[..., :hidden]) * input[..., hidden:], rounded once from fp32.

    input: (..., 2 * hidden); the elements of a row are neighbours, the rows at any one pitch.
    out: (..., hidden), rows at any one pitch; may be input[..., :hidden] or input[..., hidden:].
        None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """
    if out is None:
        out = _half_of(input)
    kernel.gelu_and_mul(out, input, enable_pdl is None or enable_pdl)
    return out


def _half_of(input: torch.Tensor) -> torch.Tensor:
    shape = input.shape
    return input.new_empty((*shape[:-1], shape[-1] // 2))
