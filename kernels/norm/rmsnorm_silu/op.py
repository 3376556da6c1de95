"""fused_rmsnorm_silu: rmsnorm, then silu, in one pass; the result may be fp8 or NVFP4."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)

_FP4 = (torch.uint8, torch.float4_e2m1fn_x2)
_BLOCK = 16


@op(archs=">=7.5", dtypes="f16 bf16", devices="cuda emu", mutates="out block_scale")
def fused_rmsnorm_silu(
    input: torch.Tensor,
    weight: torch.Tensor,
    eps: float = 1e-6,
    out: torch.Tensor | None = None,
    block_scale: torch.Tensor | None = None,
    *,
    enable_pdl: bool | None = None,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """silu(input / sqrt(mean(input^2) + eps) * weight) over the last dimension, rounded once.

    input: (..., hidden); the elements of a row are neighbours, the rows at one pitch. What a row
        gives does not depend on the other rows.
    weight: (hidden,), contiguous, of input's dtype.
    eps: a number.
    out: like input, or of dtype float8_e4m3fn; may be input itself. None allocates it like input.
        Or (..., hidden / 2), float4_e2m1fn_x2 or uint8, two numbers a byte, the first in its low
        half: then (out, block_scale) is returned, and the hidden size is a multiple of 16.
    block_scale: (..., hidden / 16), float8_e4m3fn: what 16 numbers of out are to be multiplied by.
        None allocates it where out needs it; otherwise it is not looked at.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
    """
    pdl = enable_pdl is None or enable_pdl
    if out is None:
        out = torch.empty_like(input)
    if out.dtype not in _FP4:
        kernel.fused_rmsnorm_silu(out, input, weight, eps, pdl)
        return out
    if block_scale is None:
        shape = (*input.shape[:-1], input.shape[-1] // _BLOCK)
        block_scale = torch.empty(shape, dtype=torch.float8_e4m3fn, device=input.device)
    kernel.fused_rmsnorm_silu_fp4(out, block_scale, input, weight, eps, pdl)
    return out, block_scale
