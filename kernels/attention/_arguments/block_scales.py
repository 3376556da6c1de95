"""Scales of the blocks of a cache of 4 bits, as kernels take them."""

from __future__ import annotations

import torch

from .._config import FP4
from .cache import PagedCache, keys_and_values
from .head_scales import NO_SCALES, HeadScales


def block_scales(op: str, kv: torch.dtype, kv_cache_sf: PagedCache | None, hnd: bool) -> HeadScales:
    """View the scales of planned keys, and of values, where they are of 4 bits."""
    if kv is not FP4 and kv_cache_sf is None:
        return NO_SCALES
    if kv is not FP4:
        raise ValueError(
            f"{op}: argument 'kv_cache_sf' is given, plan() was told keys of {kv}; scales of blocks "
            "are of caches of 4 bits: plan with kv_data_type=torch.uint8"
        )
    if kv_cache_sf is None:
        raise ValueError(
            f"{op}: argument 'kv_cache_sf' is None; a cache of 4 bits has a scale for each 16 values"
        )
    return HeadScales(None, *keys_and_values(op, kv_cache_sf, hnd, "kv_cache_sf"))
