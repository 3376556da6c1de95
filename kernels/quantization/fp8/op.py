"""Numbers in eight bits: a scale for each group of a token's values, or one for a tensor."""

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
    """(x / scales, scales), where a scale is max(largest |x| of a group, eps) / largest of dst_dtype.

    Rounded once from fp32, to the nearest; ties of int8 to the even one. A group with a NaN is NaN
    and has that scale.

    x: (..., hidden), in groups of group_size neighbours; the rows at one distance.
    group_size: any number that divides hidden; with 32, 64, 128 and 256 it is fastest.
    eps: keeps the scale of a group of zeros from being 0.
    dst_dtype: float8_e4m3fn, float8_e5m2 or int8. None is out's, or float8_e4m3fn.
    column_major_scales: of x of two dimensions, allocate scales so that those of one column of
        groups are neighbours. Their shape is the same.
    scale_tma_aligned: allocate such columns at a multiple of 16 bytes from one another.
    scale_ue8m0: round scales up to a power of two.
    backend: auto; cuda and FlashInfer's cutile are the same.
    out: like x, of dst_dtype; the rows at one distance. None allocates it.
    scales: (..., hidden / group_size), fp32; of two dimensions, rows or columns at any distance.
        None allocates it.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
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
    """For scales: (rows, groups) whose columns are neighbours."""
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
    """(x / scale, scale), where scale is given or max(largest |x|, 1e-10) / largest of dst_dtype.

    Rounded once from fp32, to the nearest; what a given scale leaves beyond the range becomes its
    end. A NaN in x makes a scale that is not given NaN, and all of out.

    x: any shape; dense in any order of its dimensions.
    scale: one number in an fp32 tensor, which the kernel reads. None finds it in x.
    dst_dtype: float8_e4m3fn or float8_e5m2. None is out's, or float8_e4m3fn.
    out: like x, of dst_dtype. None allocates it.
    out_scale: (1,), fp32. None allocates it, or is scale.
    enable_pdl: start while the stream's previous kernel ends. None does so where the GPU can.
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
