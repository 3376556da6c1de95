"""Layouts of keys and values, and a paged cache as two views."""

from __future__ import annotations

import torch

from .refusals import unknown

PagedCache = torch.Tensor | tuple[torch.Tensor, torch.Tensor]

LAYOUTS = ("NHD", "HND")


def is_hnd(op: str, kv_layout: str) -> bool:
    """Tell whether heads come before tokens, or before the slots of a page."""
    if kv_layout not in LAYOUTS:
        raise unknown(op, "kv_layout", kv_layout, LAYOUTS)
    return kv_layout == "HND"


def keys_and_values(
    op: str, paged_kv_cache: PagedCache, hnd: bool, name: str = "paged_kv_cache"
) -> tuple[torch.Tensor, torch.Tensor]:
    """View a cache, which is the argument `name`, as keys and values.

    Both are (pages, page_size, heads, head_dim), or (pages, heads, page_size, head_dim) with `hnd`.
    """
    if isinstance(paged_kv_cache, torch.Tensor):
        cache = paged_kv_cache
        if cache.ndim == 4:  # Pages of one slot may do without that dimension.
            cache = cache.unsqueeze(-2 if hnd else -3)
        if cache.ndim != 5 or cache.size(1) != 2:
            raise _shape(op, name, paged_kv_cache, "2, ", hnd)
        k, v = cache.unbind(1)
        return k, v
    if not isinstance(paged_kv_cache, tuple | list) or len(paged_kv_cache) != 2:
        raise TypeError(
            f"{op}: argument '{name}' is a {type(paged_kv_cache).__name__}; pass a tensor, "
            "or a tuple of keys and values"
        )
    k, v = (x.unsqueeze(-2 if hnd else -3) if x.ndim == 3 else x for x in paged_kv_cache)
    for x in (k, v):
        if x.ndim != 4:
            raise _shape(op, name, x, "", hnd)
    return k, v


def _shape(op: str, name: str, cache: torch.Tensor, stacked: str, hnd: bool) -> ValueError:
    inner = "num_kv_heads, page_size" if hnd else "page_size, num_kv_heads"
    return ValueError(
        f"{op}: argument '{name}' has shape {tuple(cache.shape)}; it is (pages, {stacked}"
        f"{inner}, head_dim)"
    )
