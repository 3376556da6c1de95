"""append_fp4: quantize the keys and values of new tokens into a paged cache of four bits."""

from __future__ import annotations

import torch

from fictl.op import KernelModule, op

kernel = KernelModule(__file__)

_FLOAT = torch.finfo(torch.float32)


@op(
    archs=">=8.0",
    dtypes="f16 bf16",
    devices="cuda emu",
    mutates="paged_kv_cache kv_cache_sf",
)
def nvfp4_quantize_append_paged_kv_cache(
    append_key: torch.Tensor,
    append_value: torch.Tensor,
    batch_indices: torch.Tensor,
    positions: torch.Tensor,
    paged_kv_cache: torch.Tensor | tuple[torch.Tensor, torch.Tensor],
    kv_cache_sf: torch.Tensor | tuple[torch.Tensor, torch.Tensor],
    kv_indices: torch.Tensor,
    kv_indptr: torch.Tensor,
    kv_last_page_len: torch.Tensor,
    k_scale: float | torch.Tensor,
    v_scale: float | torch.Tensor,
    kv_layout: str = "NHD",
    *,
    enable_pdl: bool | None = None,
) -> None:
    """Quantize the key and the value of every token to nvfp4, in the slot of its position.

    A value is e2m1 * scale of its 16 * k_scale. The scale is the largest of the 16 over 6 * k_scale,
    rounded to e4m3. A NaN makes its 16 NaN. Nothing is read on the host.

    append_key, append_value: (tokens, heads, dim), fp16 or bf16, dim a multiple of 16; last dimension
        contiguous, any stride of tokens and heads.
    batch_indices: (tokens,): the request of each token; -1 is padding, of which nothing is written.
    positions: (tokens,): the position of each token in its request.
    paged_kv_cache: keys and values, (pages, 2, page_size, heads, dim / 2), or a tuple of keys and of
        values, (pages, page_size, heads, dim / 2) each; uint8, the first of two values in the low half.
        Last dimension contiguous, the others at any stride. If kv_layout is "HND", heads come before
        page_size; a page_size of 1 may be left out.
    kv_cache_sf: the scales, e4m3 or uint8, of dim / 16 in place of dim / 2; likewise.
    kv_indices: (used pages,): the pages of all requests.
    kv_indptr: (requests + 1,): where the pages of each request begin in kv_indices; they have room
        for the new tokens.
    kv_last_page_len: (requests,): not read. All of these are int32 or int64.
    k_scale, v_scale: the global scales of the cache, positive: numbers, or tensors of one float32 that
        the kernel reads, with which another number makes NaN.
    kv_layout: "NHD" or "HND".
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    cache, cache_1 = _parts(paged_kv_cache)
    scales, scales_1 = _parts(kv_cache_sf)
    name, device = "nvfp4_quantize_append_paged_kv_cache", append_key.device
    kernel.nvfp4_quantize_append_paged_kv_cache(
        append_key,
        append_value,
        batch_indices,
        positions,
        cache,
        cache_1,
        scales,
        scales_1,
        kv_indices,
        kv_indptr,
        kv_last_page_len,
        *_global(name, "k_scale", k_scale, device),
        *_global(name, "v_scale", v_scale, device),
        kv_layout,
        enable_pdl is None or enable_pdl,
    )


@op(
    archs=">=8.0",
    dtypes="f16 bf16",
    devices="cuda emu",
    mutates="paged_kv_cache kv_cache_sf",
)
def nvfp4_quantize_append_paged_kv_cache_with_slot_mapping(
    append_key: torch.Tensor,
    append_value: torch.Tensor,
    slot_mapping: torch.Tensor,
    paged_kv_cache: torch.Tensor | tuple[torch.Tensor, torch.Tensor],
    kv_cache_sf: torch.Tensor | tuple[torch.Tensor, torch.Tensor],
    k_scale: float | torch.Tensor,
    v_scale: float | torch.Tensor,
    kv_layout: str = "NHD",
    *,
    enable_pdl: bool | None = None,
) -> None:
    """Quantize the key and the value of every token to nvfp4, in the slot that is given for it.

    As nvfp4_quantize_append_paged_kv_cache, but for where the tokens go.

    append_key, append_value: (rows, heads, dim), fp16 or bf16, dim a multiple of 16; last dimension
        contiguous, any stride of rows and heads. Rows beyond those of slot_mapping are not read.
    slot_mapping: (tokens,), int32 or int64: page * page_size + slot of each token. A negative one, or one
        beyond the cache, is padding, of which nothing is written.
    paged_kv_cache: keys and values, (pages, 2, page_size, heads, dim / 2), or a tuple of keys and of
        values, (pages, page_size, heads, dim / 2) each; uint8, the first of two values in the low half.
        Last dimension contiguous, the others at any stride. If kv_layout is "HND", heads come before
        page_size; a page_size of 1 may be left out.
    kv_cache_sf: the scales, e4m3 or uint8, of dim / 16 in place of dim / 2; likewise.
    k_scale, v_scale: the global scales of the cache, positive: numbers, or tensors of one float32 that
        the kernel reads, with which another number makes NaN.
    kv_layout: "NHD" or "HND".
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    cache, cache_1 = _parts(paged_kv_cache)
    scales, scales_1 = _parts(kv_cache_sf)
    name, device = "nvfp4_quantize_append_paged_kv_cache_with_slot_mapping", append_key.device
    kernel.nvfp4_quantize_append_paged_kv_cache_with_slot_mapping(
        append_key,
        append_value,
        slot_mapping,
        cache,
        cache_1,
        scales,
        scales_1,
        *_global(name, "k_scale", k_scale, device),
        *_global(name, "v_scale", v_scale, device),
        kv_layout,
        enable_pdl is None or enable_pdl,
    )


@op(
    archs=">=8.0",
    dtypes="f16 bf16",
    devices="cuda emu",
    mutates="ckv_cache ckv_sf_cache kpe_cache",
)
def nvfp4_quantize_append_paged_mla_kv_cache(
    append_ckv: torch.Tensor,
    append_kpe: torch.Tensor,
    batch_indices: torch.Tensor,
    positions: torch.Tensor,
    ckv_cache: torch.Tensor,
    ckv_sf_cache: torch.Tensor,
    kpe_cache: torch.Tensor,
    kv_indices: torch.Tensor,
    kv_indptr: torch.Tensor,
    kv_last_page_len: torch.Tensor,
    ckv_scale: float | torch.Tensor,
    kpe_scale: float | torch.Tensor,
    *,
    enable_pdl: bool | None = None,
) -> None:
    """Quantize the latent vector of every token to nvfp4 and its rotated key to e4m3, in its slot.

    A latent value is e2m1 * scale of its 16 * ckv_scale, a rotated one is e4m3 * kpe_scale, within 448 of
    them. A NaN makes its 16 latent values NaN, or itself.

    append_ckv: (tokens, ckv_dim), fp16 or bf16, ckv_dim a multiple of 16; last dimension contiguous, any
        stride of tokens.
    append_kpe: (tokens, kpe_dim), of append_ckv's dtype, likewise.
    batch_indices: (tokens,): the request of each token; -1 is padding, of which nothing is written.
    positions: (tokens,): the position of each token in its request.
    ckv_cache: (pages, page_size, ckv_dim / 2), uint8, the first of two values in the low half; last
        dimension contiguous, any stride of pages and slots.
    ckv_sf_cache: (pages, page_size, ckv_dim / 16), e4m3 or uint8, likewise.
    kpe_cache: (pages, page_size, kpe_dim), e4m3 or its bytes as uint8, likewise.
    kv_indices: (used pages,): the pages of all requests.
    kv_indptr: (requests + 1,): where the pages of each request begin in kv_indices; they have room
        for the new tokens.
    kv_last_page_len: (requests,): not read. All of these are int32 or int64.
    ckv_scale, kpe_scale: the global scales of the caches, positive: numbers, or tensors of one float32
        that the kernel reads, with which another number makes NaN.
    enable_pdl: launch with programmatic dependent launch; None: where the GPU supports it.
    """
    name, device = "nvfp4_quantize_append_paged_mla_kv_cache", append_ckv.device
    kernel.nvfp4_quantize_append_paged_mla_kv_cache(
        append_ckv,
        append_kpe,
        batch_indices,
        positions,
        ckv_cache,
        ckv_sf_cache,
        kpe_cache,
        kv_indices,
        kv_indptr,
        kv_last_page_len,
        *_global(name, "ckv_scale", ckv_scale, device),
        *_global(name, "kpe_scale", kpe_scale, device),
        enable_pdl is None or enable_pdl,
    )


def _parts(
    cache: torch.Tensor | tuple[torch.Tensor, torch.Tensor],
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return a tensor of both and None, or the two."""
    if isinstance(cache, tuple):
        return cache
    return cache, None


def _global(
    name: str, argument: str, scale: float | torch.Tensor, device: torch.device
) -> tuple[torch.Tensor | None, float]:
    """Return a tensor for the kernel to read, or a number; a tensor elsewhere is read here."""
    if isinstance(scale, torch.Tensor) and scale.device == device:
        return scale, 1.0
    number = float(scale)
    if not _FLOAT.smallest_normal <= number <= _FLOAT.max:
        raise ValueError(f"{name}: argument '{argument}' is {number}; pass a positive number")
    return None, number
