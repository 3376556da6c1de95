"""Quantization to eight bits: a scale for each group of a row, or one for a tensor."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out scales")
def per_token_group_quant_8bit(
    x: torch.Tensor,
    group_size: int,
    eps: float = 1e-10,
    dst_dtype: torch.dtype | None = None,
    column_major_scales: bool = False,
    scale_tma_aligned: bool = False,
    scale_ue8m0: bool = False,
    backend: str = "auto",
    *,
    out: torch.Tensor | None = None,
    scales: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (x / scales, scales), scales being max(|x| of a group, eps) / largest of dst_dtype.

    Rounded once from fp32 to the nearest; ties to even for int8. A NaN makes its group and scale
    NaN.

    x: (..., hidden), in groups of group_size adjacent elements; last dimension contiguous, all rows
        at one stride.
    group_size: any divisor of hidden; fastest with 32, 64, 128 and 256.
    eps: keeps the scale of a group of zeros above 0.
    dst_dtype: float8_e4m3fn, float8_e5m2 or int8. None: out's, or float8_e4m3fn.
    column_major_scales: for a two-dimensional x, allocate scales with contiguous columns. Their
        shape is the same.
    scale_tma_aligned: allocate such columns at a stride of a multiple of 16 bytes.
    scale_ue8m0: round scales up to a power of two.
    backend: auto; cuda and FlashInfer's cutile are the same.
    out: like x, of dst_dtype; all rows at one stride. None allocates it.
    scales: (..., hidden / group_size), float32, contiguous; two-dimensional ones may have
        contiguous rows or columns at any stride. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if backend not in ("auto", "cuda", "cutile"):
        raise ValueError(
            f"per_token_group_quant_8bit: argument 'backend' is {backend!r}; "
            "accepted: auto, cuda, cutile"
        )
    if out is None:
        out = torch.empty(x.shape, dtype=dst_dtype or torch.float8_e4m3fn, device=x.device)
    if scales is None:
        groups = x.shape[-1] // group_size if group_size > 0 else 0
        if column_major_scales or scale_tma_aligned:
            scales = _columns(x, groups, column_major_scales, scale_tma_aligned)
        else:
            shape = (*x.shape[:-1], groups)
            scales = torch.empty(shape, dtype=torch.float32, device=x.device)
    kernel.per_token_group_quant_8bit(
        out, scales, x, group_size, eps, scale_ue8m0, enable_pdl is None or enable_pdl
    )
    return out, scales


def _columns(x: torch.Tensor, groups: int, column_major: bool, aligned: bool) -> torch.Tensor:
    """Allocate scales: (rows, groups) with contiguous columns."""
    if not column_major:
        raise ValueError(
            "per_token_group_quant_8bit: argument 'scale_tma_aligned' is of columns; "
            "pass column_major_scales=True"
        )
    if x.dim() != 2:
        raise ValueError(
            f"per_token_group_quant_8bit: argument 'x' has shape {tuple(x.shape)}; "
            "column-major scales are of two dimensions: pass x.flatten(0, -2)"
        )
    rows = len(x)
    pitch = -(-rows // 4) * 4 if aligned else rows
    return torch.empty((groups, pitch), dtype=torch.float32, device=x.device)[:, :rows].t()


@op(archs=">=7.5", dtypes="f16 bf16 f32", devices="cuda emu", mutates="out out_scale")
def per_tensor_quant_fp8(
    x: torch.Tensor,
    scale: torch.Tensor | None = None,
    *,
    dst_dtype: torch.dtype | None = None,
    out: torch.Tensor | None = None,
    out_scale: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (x / scale, scale): scale is given, or max(largest |x|, 1e-10) / largest of dst_dtype.

    Rounded once from fp32 to the nearest, and clamped to the range. A NaN in x makes a computed
    scale NaN, and all of out.

    x: any shape; dense in any order of its dimensions.
    scale: a float32 tensor of one element, which the kernel reads. None: computed from x.
    dst_dtype: float8_e4m3fn or float8_e5m2. None: out's, or float8_e4m3fn.
    out: like x, of dst_dtype. None allocates it.
    out_scale: (1,), float32. None allocates it, or is scale.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if out is None:
        out = torch.empty_like(x, dtype=dst_dtype or torch.float8_e4m3fn)
    if scale is None:
        count = kernel.per_tensor_quant_fp8_workspace()
        workspace = torch.empty(count, dtype=torch.float32, device=x.device)
        if out_scale is None:
            out_scale = torch.empty(1, dtype=torch.float32, device=x.device)
    else:
        workspace = scale
        if out_scale is None:
            out_scale = scale
    kernel.per_tensor_quant_fp8(
        out, out_scale, x, scale, workspace, enable_pdl is None or enable_pdl
    )
    return out, out_scale
