"""A paged cache quantized whole: its values, where the scales of the values lie, refusals."""

from __future__ import annotations

import pytest
import torch

from fictl.kernels.quantization._paged_cache import nvfp4_quantize_paged_kv_cache
from fictl.kernels.quantization.block_scaled import reference


def _values(packed: torch.Tensor, scales: torch.Tensor, of_all: float) -> torch.Tensor:
    return reference._from_e2m1(packed) * scales.float().repeat_interleave(16, -1) * of_all


def _in_order(scales: torch.Tensor) -> torch.Tensor:
    """Scales (pages, heads, slots, cols) that were interleaved, in linear order."""
    out = torch.empty_like(scales.view(torch.uint8))
    flat = scales.view(torch.uint8).flatten(2)
    slots, cols = scales.shape[2:]
    for slot in range(slots):
        for col in range(cols):
            out[:, :, slot, col] = flat[:, :, slot // 4 * 4 * cols + 4 * col + slot % 4]
    return out.view(torch.float8_e4m3fn)


@pytest.mark.parametrize("layout", ["HND", "NHD"])
def test_both_are_quantized_and_the_scales_of_values_interleaved(layout: str, device: str) -> None:
    caches = [torch.randn(2, 3, 8, 64, device=device).bfloat16() * size for size in (1, 40)]
    given = [x if layout == "HND" else x.transpose(1, 2) for x in caches]
    packed, scales, *of_all = nvfp4_quantize_paged_kv_cache(*given, layout)
    if layout == "NHD":
        packed, scales = ([x.transpose(1, 2) for x in pair] for pair in (packed, scales))
    assert (scales[0].shape, scales[1].dtype) == ((2, 3, 8, 4), torch.float8_e4m3fn)
    linear = scales[0], _in_order(scales[1].contiguous())
    for cache, p, s, scale in zip(caches, packed, linear, of_all, strict=True):
        assert scale == pytest.approx(cache.abs().max().item() / 448)
        error = (_values(p, s, scale) - cache).abs().max().item()
        assert error <= cache.abs().max().item() / 6


def test_given_scales_and_zeros(device: str) -> None:
    cache = torch.zeros(1, 1, 4, 64, device=device, dtype=torch.float16)
    scale = torch.tensor([4.0], device=device)
    packed, scales, k_scale, v_scale = nvfp4_quantize_paged_kv_cache(
        cache, cache, k_global_sf=scale
    )
    assert k_scale == 0.25
    assert 0 < v_scale < 1e-14
    assert not any(x.view(torch.uint8).any() for x in (*packed, *scales))


@pytest.mark.parametrize("shape", [(1, 1, 6, 64), (1, 1, 4, 32), (1, 4, 64)])
def test_what_cannot_be_interleaved_is_refused(shape: tuple[int, ...]) -> None:
    cache = torch.zeros(shape, dtype=torch.float16)
    with pytest.raises(ValueError, match=r"'k_cache' has shape .*page_size a multiple of 4"):
        nvfp4_quantize_paged_kv_cache(cache, cache)


def test_another_layout_is_refused() -> None:
    cache = torch.zeros(1, 1, 4, 64, dtype=torch.float16)
    with pytest.raises(ValueError, match="'kv_layout' is 'NDH'"):
        nvfp4_quantize_paged_kv_cache(cache, cache, "NDH")
