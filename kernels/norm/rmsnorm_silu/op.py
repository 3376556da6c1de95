"""fused_rmsnorm_silu: rmsnorm and silu in one pass, to 16 bits, fp8 or NVFP4."""

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
    """Compute silu(input / sqrt(mean(input^2) + eps) * weight) over the last dimension.

    Rounded once from fp32. The result of a row does not depend on the other rows.

    input: (..., hidden); last dimension contiguous, all rows at one stride.
    weight: (hidden,), contiguous, of input's dtype.
    eps: added to the mean square.
    out: like input, or of dtype float8_e4m3fn; may be input itself. None allocates it like input.
        For NVFP4, (..., hidden / 2), float4_e2m1fn_x2 or uint8, two values per byte, the first in
        the low half: then (out, block_scale) is returned, and hidden is a multiple of 16.
    block_scale: (..., hidden / 16), float8_e4m3fn: the factor of each block of 16 values of out.
        None allocates it if out needs it; otherwise it is ignored.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
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
