"""Formats with a scale for each block of a row: mxfp8, nvfp4, mxfp4, and their scale layouts."""

from __future__ import annotations

from typing import Any

import torch

from fictl.op import KernelModule, op

from .._layout import SfLayout, scales_shape

kernel = KernelModule(__file__)


@op(archs=">=7.5", dtypes="f16 bf16", devices="cuda emu", mutates="out out_sf")
def mxfp8_quantize(
    input: torch.Tensor,
    is_sf_swizzled_layout: bool = True,
    alignment: int = 32,
    enable_pdl: bool | None = None,
    backend: str = "cuda",
    sf_swizzle_layout: SfLayout | None = None,
    *,
    out: torch.Tensor | None = None,
    out_sf: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Quantize to e4m3 with a power of two for each block of 32: value = e4m3 * 2^(scale - 127).

    The scale is the least that keeps the block's largest value within 448. A NaN makes all of its
    block NaN.

    input: (..., cols), fp16 or bf16, cols a multiple of 32; last dimension contiguous, all rows at
        one stride.
    is_sf_swizzled_layout: scales in SfLayout.layout_128x4, otherwise linear.
    alignment: a multiple of 32; rows of the result are padded with zeros to a multiple of it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    backend: "cuda".
    sf_swizzle_layout: overrides is_sf_swizzled_layout.
    out: (..., cols padded), e4m3, all rows at one stride. None allocates it.
    out_sf: all scales of the layout, uint8, contiguous. None allocates it, one-dimensional.
    """
    _only("mxfp8_quantize", "backend", backend, "cuda")
    layout = _layout(sf_swizzle_layout, is_sf_swizzled_layout)
    cols = -(-input.shape[-1] // max(alignment, 1)) * alignment
    if out is None:
        shape = (*input.shape[:-1], cols)
        out = torch.empty(shape, dtype=torch.float8_e4m3fn, device=input.device)
    if out_sf is None:
        rows, blocks = scales_shape(layout, _rows(input), cols // 32)
        out_sf = torch.empty(rows * blocks, dtype=torch.uint8, device=input.device)
    pdl = enable_pdl is None or enable_pdl
    kernel.mxfp8_quantize(out, out_sf, input, alignment, layout, pdl)
    return out, out_sf


@op(archs=">=7.5", dtypes="f16 bf16", devices="cuda emu", mutates="out out_sf")
def fp4_quantize(
    input: torch.Tensor,
    global_scale: torch.Tensor | None = None,
    sf_vec_size: int = 16,
    sf_use_ue8m0: bool = False,
    is_sf_swizzled_layout: bool = True,
    is_sf_8x4_layout: bool = False,
    is_global_scale_inversed: bool = False,
    enable_pdl: bool | None = None,
    backend: str = "cuda",
    nvfp4_4over6: Any = None,
    *,
    out: torch.Tensor | None = None,
    out_sf: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Quantize to nvfp4 or mxfp4, as nvfp4_quantize and mxfp4_quantize do.

    input: (..., cols), fp16 or bf16, cols a multiple of sf_vec_size; last dimension contiguous, all
        rows at one stride. If its columns are contiguous instead of its rows, it is quantized along
        them, and the results are transposed as well.
    global_scale: (1,), or one for each row; float32. Not used for mxfp4.
    sf_vec_size: 16, or 32 with sf_use_ue8m0, which selects mxfp4.
    is_sf_swizzled_layout: scales in SfLayout.layout_128x4, or 8x4 if is_sf_8x4_layout; otherwise
        linear.
    is_global_scale_inversed: global_scale is the inverse of nvfp4_quantize's.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    backend: "cuda". nvfp4_4over6: None.
    out: (..., cols / 2), uint8, all rows at one stride. None allocates it.
    out_sf: all scales of the layout, uint8, contiguous. None allocates it as (rows, blocks),
        padded.
    """
    _only("fp4_quantize", "backend", backend, "cuda")
    _only("fp4_quantize", "nvfp4_4over6", bool(nvfp4_4over6), False)
    if input.ndim >= 2 and input.stride(-2) == 1 != input.stride(-1) and input.shape[-2] > 1:
        out, out_sf = fp4_quantize(
            input.transpose(-2, -1),
            global_scale,
            sf_vec_size,
            sf_use_ue8m0,
            is_sf_swizzled_layout,
            is_sf_8x4_layout,
            is_global_scale_inversed,
            enable_pdl,
            out=_transposed(out),
            out_sf=_transposed(out_sf),
        )
        return out.transpose(-2, -1), out_sf.transpose(-2, -1)
    layout = SfLayout.swizzled(is_sf_swizzled_layout, is_sf_8x4_layout)
    out, out_sf = _fp4_results(input, sf_vec_size, layout, out, out_sf)
    kernel.fp4_quantize(
        out,
        out_sf,
        input,
        _as_float(global_scale, input),
        sf_vec_size,
        sf_use_ue8m0,
        layout,
        is_global_scale_inversed,
        enable_pdl is None or enable_pdl,
    )
    return out, out_sf


@op(archs=">=7.5", dtypes="f16 bf16", devices="cuda emu", mutates="out out_sf")
def nvfp4_quantize(
    a: torch.Tensor,
    a_global_sf: torch.Tensor,
    sfLayout: SfLayout = SfLayout.layout_128x4,  # noqa: N803 as elsewhere
    do_shuffle: bool = False,
    sf_vec_size: int = 16,
    enable_pdl: bool | None = None,
    backend: str = "cuda",
    per_token_activation: bool = False,
    expanded_idx_to_permuted_idx: torch.Tensor | None = None,
    out_scale: torch.Tensor | None = None,
    nvfp4_4over6: Any = None,
    *,
    out: torch.Tensor | None = None,
    out_sf: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Quantize to e2m1 with an e4m3 scale for each block of 16: value = e2m1 * scale / a_global_sf.

    The scale is a_global_sf / 6 times the block's largest value, rounded to e4m3; the values are
    those of `a` over scale / a_global_sf, rounded to e2m1. Each step is computed in fp32. A NaN
    makes all of its block NaN.

    a: (..., cols), fp16 or bf16, cols a multiple of 16; last dimension contiguous, all rows at one
        stride.
    a_global_sf: (1,), or one for each row; float32: 448 * 6 / a.abs().max().
    sfLayout: layout of the scales.
    do_shuffle: False. sf_vec_size: 16. backend: "cuda". per_token_activation: False.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    expanded_idx_to_permuted_idx, out_scale, nvfp4_4over6: None.
    out: (..., cols / 2), uint8, the first of two values in the low half; all rows at one stride.
        None allocates it.
    out_sf: all scales of the layout, uint8, contiguous. None allocates it as (rows, blocks),
        padded.
    """
    _only("nvfp4_quantize", "do_shuffle", do_shuffle, False)
    _only("nvfp4_quantize", "sf_vec_size", sf_vec_size, 16)
    _only("nvfp4_quantize", "backend", backend, "cuda")
    _only("nvfp4_quantize", "per_token_activation", per_token_activation, False)
    _only("nvfp4_quantize", "expanded_idx_to_permuted_idx", expanded_idx_to_permuted_idx, None)
    _only("nvfp4_quantize", "out_scale", out_scale, None)
    _only("nvfp4_quantize", "nvfp4_4over6", bool(nvfp4_4over6), False)
    out, out_sf = _fp4_results(a, 16, sfLayout, out, out_sf)
    pdl = enable_pdl is None or enable_pdl
    kernel.nvfp4_quantize(out, out_sf, a, _as_float(a_global_sf, a), sfLayout, pdl)
    return out, out_sf


@op(archs=">=7.5", dtypes="f16 bf16", devices="cuda emu", mutates="out out_sf")
def mxfp4_quantize(
    a: torch.Tensor,
    backend: str = "cuda",
    enable_pdl: bool | None = None,
    sfLayout: SfLayout = SfLayout.layout_128x4,  # noqa: N803 as elsewhere
    *,
    out: torch.Tensor | None = None,
    out_sf: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Quantize to e2m1 with a power of two for each block of 32: value = e2m1 * 2^(scale - 127).

    The scale is the least that keeps the block's largest value within 6. A NaN makes all of its
    block NaN.

    a: (..., cols), fp16 or bf16, cols a multiple of 32; last dimension contiguous, all rows at one
        stride.
    backend: "cuda".
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    sfLayout: layout of the scales.
    out: (..., cols / 2), uint8, the first of two values in the low half; all rows at one stride.
        None allocates it.
    out_sf: all scales of the layout, uint8, contiguous. None allocates it as (rows, blocks),
        padded.
    """
    _only("mxfp4_quantize", "backend", backend, "cuda")
    out, out_sf = _fp4_results(a, 32, sfLayout, out, out_sf)
    kernel.mxfp4_quantize(out, out_sf, a, sfLayout, enable_pdl is None or enable_pdl)
    return out, out_sf


@op(archs=">=7.5", dtypes="u8", devices="cuda emu", mutates="out")
def e2m1_and_ufp8sf_scale_to_float(
    e2m1_tensor: torch.Tensor,
    ufp8_scale_tensor: torch.Tensor,
    global_scale_tensor: torch.Tensor | None = None,
    sf_vec_size: int = 16,
    ufp8_type: int = 1,
    is_sf_swizzled_layout: bool = True,
    is_sf_8x4_layout: bool = False,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Compute e2m1 * (scale of the block * global_scale_tensor) in fp32, on the tensors' device.

    e2m1_tensor: (..., cols / 2), uint8, the first of two values in the low half; last dimension
        contiguous, all rows at one stride.
    ufp8_scale_tensor: the scales in their layout, uint8, contiguous, of any shape.
    global_scale_tensor: (1,), float32: the inverse of nvfp4_quantize's. None is 1.
    sf_vec_size: values of a block, 16 or 32, of which cols is a multiple.
    ufp8_type: 1 for scales of e4m3, 0 for powers of two (e8m0).
    is_sf_swizzled_layout: scales in SfLayout.layout_128x4, or 8x4 if is_sf_8x4_layout; otherwise
        linear.
    out: (..., cols), float32, all rows at one stride. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if out is None:
        out = _values(e2m1_tensor, 2)
    layout = SfLayout.swizzled(is_sf_swizzled_layout, is_sf_8x4_layout)
    kernel.e2m1_and_ufp8sf_scale_to_float(
        out,
        e2m1_tensor,
        ufp8_scale_tensor,
        global_scale_tensor,
        sf_vec_size,
        ufp8_type,
        layout,
        enable_pdl is None or enable_pdl,
    )
    return out


@op(archs=">=7.5", dtypes="u8", devices="cuda emu", mutates="out")
def mxfp4_dequantize(
    a_fp4: torch.Tensor,
    a_sf: torch.Tensor,
    sfLayout: SfLayout = SfLayout.layout_128x4,  # noqa: N803 as elsewhere
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Convert the result of mxfp4_quantize to fp32, on the tensors' device.

    a_fp4: (..., cols / 2), uint8, cols a multiple of 32; last dimension contiguous, all rows at one
        stride.
    a_sf: the scales in their layout, uint8, contiguous, of any shape.
    sfLayout: layout of the scales.
    out: (..., cols), float32, all rows at one stride. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if out is None:
        out = _values(a_fp4, 2)
    kernel.mxfp4_dequantize(out, a_fp4, a_sf, sfLayout, enable_pdl is None or enable_pdl)
    return out


@op(archs=">=7.5", dtypes="e4m3 u8", devices="cuda emu", mutates="out")
def mxfp8_dequantize(
    input: torch.Tensor,
    scale_tensor: torch.Tensor,
    is_sf_swizzled_layout: bool = True,
    sf_swizzle_layout: SfLayout | None = None,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Convert the result of mxfp8_quantize to fp32.

    input: (..., cols), e4m3 or its bytes as uint8, cols a multiple of 32; last dimension
        contiguous, all rows at one stride.
    scale_tensor: the scales in their layout, uint8, contiguous, of any shape.
    is_sf_swizzled_layout: scales in SfLayout.layout_128x4, otherwise linear.
    sf_swizzle_layout: overrides is_sf_swizzled_layout.
    out: the shape of input, float32; all rows at one stride. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if out is None:
        out = _values(input, 1)
    layout = _layout(sf_swizzle_layout, is_sf_swizzled_layout)
    kernel.mxfp8_dequantize(out, input, scale_tensor, layout, enable_pdl is None or enable_pdl)
    return out


@op(archs=">=7.5", dtypes="u8 bf16", devices="cuda emu", mutates="out")
def block_scale_interleave(
    unswizzled_sf: torch.Tensor,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Reorder scales from linear layout to SfLayout.layout_128x4, padded with zeros.

    unswizzled_sf: (rows, blocks) or (experts, rows, blocks), uint8 or bf16, contiguous.
    out: the padded scales, one-dimensional, of its dtype. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if out is None:
        *experts, rows, blocks = unswizzled_sf.shape if unswizzled_sf.ndim >= 2 else (0, 0)
        rows, blocks = scales_shape(SfLayout.layout_128x4, rows, blocks)
        size = rows * blocks * (experts[0] if experts else 1)
        out = torch.empty(size, dtype=unswizzled_sf.dtype, device=unswizzled_sf.device)
    kernel.block_scale_interleave(out, unswizzled_sf, enable_pdl is None or enable_pdl)
    return out


def _only(name: str, parameter: str, value: object, accepted: object) -> None:
    if value is not accepted and (accepted is None or value != accepted):
        raise ValueError(f"{name}: argument '{parameter}' is {value!r}; accepted: {accepted!r}")


def _layout(layout: SfLayout | None, is_swizzled: bool) -> int:
    return SfLayout.swizzled(is_swizzled) if layout is None else layout


def _rows(x: torch.Tensor) -> int:
    rows = 1
    for size in x.shape[:-1]:
        rows *= size
    return rows


def _fp4_results(
    x: torch.Tensor,
    block: int,
    layout: int,
    out: torch.Tensor | None,
    out_sf: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the outputs; allocate those that are None."""
    cols = x.shape[-1]
    if out is None:
        out = torch.empty((*x.shape[:-1], cols // 2), dtype=torch.uint8, device=x.device)
    if out_sf is None:
        shape = scales_shape(layout, _rows(x), cols // max(block, 1))
        out_sf = torch.empty(shape, dtype=torch.uint8, device=x.device)
    return out, out_sf


def _values(quantized: torch.Tensor, values: int) -> torch.Tensor:
    """Allocate `out` with that many values per element of the input."""
    shape = (*quantized.shape[:-1], quantized.shape[-1] * values)
    return torch.empty(shape, dtype=torch.float32, device=quantized.device)


def _as_float(scale: torch.Tensor | None, like: torch.Tensor) -> torch.Tensor | None:
    """Convert to float32 on the device of `like`, which it mostly has already."""
    if scale is None or (scale.dtype is torch.float32 and scale.device == like.device):
        return scale
    return scale.to(device=like.device, dtype=torch.float32)


def _transposed(x: torch.Tensor | None) -> torch.Tensor | None:
    return None if x is None else x.transpose(-2, -1)
