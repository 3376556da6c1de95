"""The cache of a call: one tensor of keys and values, or one that is both, or a pair."""

from __future__ import annotations

import torch

from .._arguments.cache import PagedCache
from .._config import FP4

_CHUNK = 16  # bytes that kernels copy at a time
_NARROW = "caches of 4 bits are not here: they are uint8, and come with kv_cache_sf"


def keys_and_values(op: str, kv_cache: PagedCache, hnd: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """View keys and values: (pages, heads, page_size, dim) with `hnd`, or heads after slots."""
    k, v = stacked_or_pair(op, kv_cache, hnd)
    return (k[:, 0], v[:, -1]) if k.ndim == 5 else (k, v)


def stacked_or_pair(
    op: str, kv_cache: PagedCache, hnd: bool, name: str = "kv_cache"
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a pair of keys and values, or twice the tensor that stacks them."""
    if isinstance(kv_cache, torch.Tensor):
        if kv_cache.ndim == 5 and kv_cache.shape[1] in (1, 2):
            return kv_cache, kv_cache
        inner = "heads, page_size" if hnd else "page_size, heads"
        raise ValueError(
            f"{op}: argument '{name}' has shape {tuple(kv_cache.shape)}; it is (pages, 2, "
            f"{inner}, head_dim), or a pair of keys and values without the 2"
        )
    is_pair = isinstance(kv_cache, tuple | list) and len(kv_cache) == 2
    if not is_pair or not all(map(torch.is_tensor, kv_cache)):
        raise TypeError(
            f"{op}: argument '{name}' is a {type(kv_cache).__name__}; pass a tensor, or a tuple "
            "of keys and values"
        )
    k, v = kv_cache
    if k.ndim != 4 or v.shape[:-1] != k.shape[:-1]:
        raise ValueError(
            f"{op}: argument '{name}' has keys of shape {tuple(k.shape)} and values of "
            f"{tuple(v.shape)}; both are (pages, …, head_dim) with 4 dimensions"
        )
    return k, v


def block_scales(
    op: str, k: torch.Tensor, kv_cache_sf: PagedCache | None, hnd: bool
) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    """View the scales of a cache of 4 bits, stacked or as a pair; (None, None) for another."""
    if k.dtype is not FP4:
        if kv_cache_sf is None:
            return None, None
        raise ValueError(
            f"{op}: argument 'kv_cache_sf' is given, and the cache has dtype {k.dtype}; scales of "
            "blocks are of caches of 4 bits, which are uint8"
        )
    if kv_cache_sf is None:
        raise ValueError(
            f"{op}: argument 'kv_cache_sf' is None; a cache of 4 bits has a scale for each 16 values"
        )
    return stacked_or_pair(op, kv_cache_sf, hnd, "kv_cache_sf")


def own_tables(op: str, tables: torch.Tensor, k: torch.Tensor) -> tuple[torch.Tensor, int]:
    """View the pages of keys, and how many entries after them those of values are."""
    if k.dtype is FP4:
        raise NotImplementedError(
            f"{op}: a cache of 4 bits has one page table: uses_shared_paged_kv_idx is True"
        )
    if tables.ndim != 3 or tables.shape[1] != 2:
        raise ValueError(
            f"{op}: argument 'block_tables' has shape {tuple(tables.shape)}; without "
            "uses_shared_paged_kv_idx it is (requests, 2, most_pages), pages of keys and of values"
        )
    return tables[:, 0], tables.stride(1)


def check_wide(op: str, k: torch.Tensor) -> None:
    """Refuse caches of 4 bits."""
    if k.dtype is torch.uint8:
        raise NotImplementedError(f"{op}: {_NARROW}")


def check_rows(op: str, name: str, x: torch.Tensor) -> None:
    """Refuse heads that cannot be copied in chunks: the kernels have one name for both caches."""
    size = x.element_size()
    apart = [step * size % _CHUNK for n, step in zip(x.shape, x.stride(), strict=True) if n > 1]
    if not x.numel() or (x.stride(-1) == 1 and not any(apart[:-1]) and not x.data_ptr() % _CHUNK):
        return
    raise ValueError(
        f"{op}: argument '{name}' has strides {x.stride()}: the last dimension must be contiguous "
        f"(stride 1), and heads aligned to {_CHUNK} bytes; pass {name}.contiguous()"
    )


def check_table(op: str, name: str, table: torch.Tensor) -> None:
    """Refuse a table whose pages are not in rows."""
    if table.ndim != 2 or table.dtype is not torch.int32:
        raise ValueError(
            f"{op}: argument '{name}' has shape {tuple(table.shape)} and dtype {table.dtype}; it is "
            "(requests, most_pages) of torch.int32"
        )
    if table.shape[1] > 1 and table.stride(1) != 1:
        raise ValueError(
            f"{op}: argument '{name}' has strides {table.stride()}: pages of a request must be "
            f"contiguous; pass {name}.contiguous()"
        )
