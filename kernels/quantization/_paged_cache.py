"""Quantization of a whole paged cache to nvfp4, with the scales in the orders of TensorRT-LLM's kernels."""

from __future__ import annotations

import torch

from ._layout import SfLayout
from .block_scaled.op import nvfp4_quantize

__all__ = ["nvfp4_quantize_paged_kv_cache"]

_BLOCK = 16
_LARGEST_SCALE = 448.0
_SLOTS = 4  # whose scales lie together

_Pair = tuple[torch.Tensor, torch.Tensor]


def nvfp4_quantize_paged_kv_cache(
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    kv_layout: str = "HND",
    k_global_sf: torch.Tensor | None = None,
    v_global_sf: torch.Tensor | None = None,
) -> tuple[_Pair, _Pair, float, float]:
    """Quantize keys and values to e2m1 with an e4m3 scale for 16; return them, scales, global scales.

    The scales of the keys are in linear layout. Those of the values are in the order of TensorRT-LLM's
    attention kernels: the scale s of slot t of four is byte 4 * s + t of the four slots' scales. Nothing of
    fictl reads that order: nvfp4_quantize_append_paged_kv_cache fills caches for its own kernels.
    A value is e2m1 * scale * global scale. The global scales are read on the host.

    k_cache, v_cache: (pages, heads, page_size, dim), fp16 or bf16; page_size a multiple of 4, dim of 64.
        With kv_layout "NHD", page_size comes before heads.
    kv_layout: "HND" or "NHD".
    k_global_sf, v_global_sf: (1,), float32. None: 448 over the cache's largest value.
    """
    name = "nvfp4_quantize_paged_kv_cache"
    if kv_layout not in ("HND", "NHD"):
        raise ValueError(f"{name}: argument 'kv_layout' is {kv_layout!r}; it is 'HND' or 'NHD'")
    for argument, cache in (("k_cache", k_cache), ("v_cache", v_cache)):
        _check(name, argument, cache, kv_layout)
    keys, key_scales, k_global = _quantized(k_cache, k_global_sf)
    values, value_scales, v_global = _quantized(v_cache, v_global_sf)
    value_scales = _interleaved(value_scales, kv_layout)
    k_scale, v_scale = torch.cat([1 / k_global.reshape(1), 1 / v_global.reshape(1)]).tolist()
    return (keys, values), (key_scales, value_scales), k_scale, v_scale


def _check(name: str, argument: str, cache: torch.Tensor, kv_layout: str) -> None:
    if cache.ndim == 4:
        slots = cache.shape[1 if kv_layout == "NHD" else 2]
        if slots % _SLOTS == 0 and cache.shape[-1] % (4 * _BLOCK) == 0:
            return
    order = "page_size, heads" if kv_layout == "NHD" else "heads, page_size"
    raise ValueError(
        f"{name}: argument '{argument}' has shape {tuple(cache.shape)}; it is (pages, {order}, dim), "
        f"page_size a multiple of {_SLOTS} and dim of {4 * _BLOCK}"
    )


def _quantized(
    cache: torch.Tensor, scale: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    if scale is None:
        largest = (
            cache.abs().amax().float() if cache.numel() else cache.new_ones((), dtype=torch.float32)
        )
        scale = (_LARGEST_SCALE / largest.clamp(min=1e-12)).reshape(1)
    packed, scales = nvfp4_quantize(
        cache.reshape(-1, cache.shape[-1]), scale, SfLayout.layout_linear
    )
    shape = cache.shape[:-1]
    scales = scales.view(torch.float8_e4m3fn).reshape(*shape, cache.shape[-1] // _BLOCK)
    return packed.reshape(*shape, cache.shape[-1] // 2), scales, scale


def _interleaved(scales: torch.Tensor, kv_layout: str) -> torch.Tensor:
    """Transpose the scales of each four slots of a head."""
    is_nhd = kv_layout == "NHD"
    by_head = scales.view(torch.uint8).transpose(1, 2) if is_nhd else scales.view(torch.uint8)
    pages, heads, slots, cols = by_head.shape
    fours = by_head.reshape(pages, heads, slots // _SLOTS, _SLOTS, cols).transpose(-1, -2)
    tiled = fours.reshape(by_head.shape)
    return (tiled.transpose(1, 2) if is_nhd else tiled).contiguous().view(torch.float8_e4m3fn)
