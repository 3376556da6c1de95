"""nvfp4 as KV caches hold it: scales row by row, and a global scale that multiplies."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)


@op(archs=">=8.0", dtypes="f16 bf16", devices="cuda emu", mutates="out out_sf")
def nvfp4_kv_quantize(
    input: torch.Tensor,
    global_scale: torch.Tensor,
    *,
    out: torch.Tensor | None = None,
    out_sf: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Quantize to e2m1 with an e4m3 scale for 16: value = e2m1 * scale * global_scale.

    The scale is the largest of the 16 over 6 * global_scale, rounded to e4m3. Each step is computed in
    fp32. A NaN makes its 16 NaN, and a global scale that is not positive and finite makes all so.

    input: (rows, cols), fp16 or bf16, cols a multiple of 16; rows contiguous, at one stride.
    global_scale: (1,), float32: the largest value over 448 * 6 uses all of the range.
    out: (rows, cols / 2), uint8, the first of two values in the low half; rows at one stride. None
        allocates it.
    out_sf: (rows, cols / 16), uint8 or e4m3, contiguous. None allocates it as uint8.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if out is None:
        out = _bytes(input, 2)
    if out_sf is None:
        out_sf = _bytes(input, 16)
    kernel.nvfp4_kv_quantize(out, out_sf, input, global_scale, enable_pdl is None or enable_pdl)
    return out, out_sf


@op(archs=">=8.0", dtypes="u8", devices="cuda emu", mutates="out")
def nvfp4_kv_dequantize(
    fp4_data: torch.Tensor,
    block_scales: torch.Tensor,
    global_scale: torch.Tensor,
    output_dtype: torch.dtype = torch.bfloat16,
    *,
    out: torch.Tensor | None = None,
    enable_pdl: bool | None = None,
) -> torch.Tensor:
    """Compute e2m1 * scale * global_scale in fp32, rounded once there, then to 16 bits.

    fp4_data: (rows, cols / 2), uint8, the first of two values in the low half, cols a multiple of 16; rows
        contiguous, at one stride.
    block_scales: (rows, cols / 16), uint8 or e4m3, likewise.
    global_scale: (1,), float32.
    output_dtype: bfloat16 or float16; not used with out.
    out: (rows, cols), likewise. None allocates it.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    if out is None:
        shape = (*fp4_data.shape[:-1], 2 * fp4_data.shape[-1])
        out = torch.empty(shape, dtype=output_dtype, device=fp4_data.device)
    kernel.nvfp4_kv_dequantize(
        out, fp4_data, block_scales, global_scale, enable_pdl is None or enable_pdl
    )
    return out


@op(archs=">=8.0", dtypes="f16 bf16", devices="cuda emu", mutates="output_k output_v")
def nvfp4_kv_dequantize_paged(
    paged_kv_cache: torch.Tensor | tuple[torch.Tensor, torch.Tensor],
    kv_cache_sf: torch.Tensor | tuple[torch.Tensor, torch.Tensor],
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    k_scale: torch.Tensor,
    v_scale: torch.Tensor,
    output_k: torch.Tensor,
    output_v: torch.Tensor,
    kv_layout: str = "NHD",
    *,
    enable_pdl: bool | None = None,
) -> None:
    """Compute the keys and values of each request's positions, as nvfp4_kv_dequantize does.

    Positions from a request's length on, and those whose page is negative or beyond the cache, are left
    as they are.

    paged_kv_cache: keys and values, (pages, 2, page_size, heads, dim / 2), or a tuple of keys and of
        values, (pages, page_size, heads, dim / 2) each; uint8. Last dimension contiguous, the others at
        any stride. If kv_layout is "HND", heads come before page_size; a page_size of 1 may be left out.
    kv_cache_sf: the scales, e4m3 or uint8, of dim / 16 in place of dim / 2; likewise.
    block_tables: (requests, pages of one), int32 or int64, at any strides.
    seq_lens: (requests,), int32 or int64.
    k_scale, v_scale: (1,), float32: the global scales.
    output_k, output_v: (requests, positions, heads, dim), fp16 or bf16, dim a multiple of 16, of which the
        two may differ; last dimension contiguous, any strides without overlap.
    kv_layout: "NHD" or "HND".
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    cache, cache_1 = _parts(paged_kv_cache)
    scales, scales_1 = _parts(kv_cache_sf)
    kernel.nvfp4_kv_dequantize_paged(
        cache,
        cache_1,
        scales,
        scales_1,
        block_tables,
        seq_lens,
        k_scale,
        v_scale,
        output_k,
        output_v,
        kv_layout,
        enable_pdl is None or enable_pdl,
    )


def _parts(
    cache: torch.Tensor | tuple[torch.Tensor, torch.Tensor],
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return a tensor of both and None, or the two."""
    if isinstance(cache, tuple):
        return cache
    return cache, None


def _bytes(x: torch.Tensor, values: int) -> torch.Tensor:
    shape = (*x.shape[:-1], x.shape[-1] // values)
    return torch.empty(shape, dtype=torch.uint8, device=x.device)
