"""A paged cache as the views of its keys and of its values."""

from __future__ import annotations

import torch

PagedCache = torch.Tensor | tuple[torch.Tensor, torch.Tensor]


def keys_and_values(
    op: str, paged_kv_cache: PagedCache, hnd: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """(pages, page_size, heads, dim) each, or (pages, heads, page_size, dim) where it is `hnd`."""
    if isinstance(paged_kv_cache, torch.Tensor):
        cache = paged_kv_cache
        if cache.ndim == 4:  # Pages of one slot may do without that dimension.
            cache = cache.unsqueeze(-2 if hnd else -3)
        if cache.ndim != 5 or cache.shape[1] != 2:
            raise _shape(op, paged_kv_cache, "2, ", hnd)
        k, v = cache.unbind(1)
        return k, v
    if not isinstance(paged_kv_cache, tuple | list) or len(paged_kv_cache) != 2:
        raise TypeError(
            f"{op}: argument 'paged_kv_cache' is a {type(paged_kv_cache).__name__}; pass a tensor, "
            "or a tuple of keys and values"
        )
    k, v = (
        each.unsqueeze(-2 if hnd else -3) if each.ndim == 3 else each for each in paged_kv_cache
    )
    for each in (k, v):
        if each.ndim != 4:
            raise _shape(op, each, "", hnd)
    return k, v


def _shape(op: str, found: torch.Tensor, stacked: str, hnd: bool) -> ValueError:
    inner = "num_kv_heads, page_size" if hnd else "page_size, num_kv_heads"
    return ValueError(
        f"{op}: argument 'paged_kv_cache' has shape {tuple(found.shape)}; it is (pages, {stacked}"
        f"{inner}, head_dim)"
    )
