"""A prefix that a whole batch shares, as a system prompt is, and what each request has beyond it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from itertools import pairwise
from typing import Any

import torch

from fictl.trace import Case

_LEVELS = "MultiLevelCascadeAttentionWrapper"
_DECODE = "BatchDecodeWithSharedPrefixPagedKVCacheWrapper"
_PREFILL = "BatchPrefillWithSharedPrefixPagedKVCacheWrapper"
# levels, tokens, requests, pages
_SMALL = ((1, 5, 3, 4), (2, 6, 3, 12), (3, 7, 4, 10))
# requests, keys of each; together they share an eighth of what all have
_BATCHES = ((256, 1024), (64, 1024), (16, 4096))
_PAGE = 16


def cases() -> Iterator[Case]:
    for levels, tokens, requests, used in _SMALL:
        yield _levels(levels, tokens, _small(requests, used))
    yield Case(_DECODE, {**_small(3, 5), "shared_len": 9}, "bfloat16")
    yield Case(_PREFILL, {**_small(3, 5), "shared_len": 9, "tokens": 7}, "bfloat16")
    for requests, own in _BATCHES:
        sizes = _sizes(requests, requests * own // _PAGE, _PAGE, (32, 8), 128)
        yield _levels(2, requests, sizes)
        yield Case(_DECODE, {**sizes, "shared_len": requests * own // 8}, "bfloat16")


def _levels(levels: int, tokens: int, sizes: dict[str, int]) -> Case:
    return Case(_LEVELS, {"levels": levels, "tokens": tokens, **sizes}, "bfloat16")


def _small(requests: int, used: int) -> dict[str, int]:
    return _sizes(requests, used, 4, (4, 2), 64)


def _sizes(
    requests: int, used: int, page_size: int, heads: tuple[int, int], dim: int
) -> dict[str, int]:
    return {
        "requests": requests,
        "pages": used + 3,
        "used_pages": used,
        "page_size": page_size,
        "num_qo_heads": heads[0],
        "num_kv_heads": heads[1],
        "head_dim": dim,
    }


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    """`plain`: decoding as if nothing were shared, every request with all of its pages.

    FlashInfer's other two wrappers plan for fp16 alone, and call what this one calls.
    """
    return {"plain": _plain, "flashinfer": _flashinfer} if function == _LEVELS else {}


@lru_cache(maxsize=2)
def _workspace(device: torch.device) -> torch.Tensor:
    return torch.empty(256 << 20, dtype=torch.uint8, device=device)


def _plain(
    paged_kv_indptr_arr: torch.Tensor,
    paged_kv_indices_arr: torch.Tensor,
    paged_kv_last_page_len: torch.Tensor,
    num_qo_heads: int,
    num_kv_heads: int,
    head_dim: int,
    page_size: int,
    q: torch.Tensor,
    paged_kv_cache: torch.Tensor,
    **_others: Any,
) -> Callable[[], Any]:
    shared, *rest = (int(begins[-1]) for begins in paged_kv_indptr_arr)
    full = shared > 0 and int(paged_kv_last_page_len[0, 0]) == page_size
    if len(rest) != 1 or len(q) != paged_kv_last_page_len.shape[1] or not full:
        raise NotImplementedError("only of two levels of full pages, with a query a request")
    ends = paged_kv_indptr_arr[1].tolist()
    of_all = paged_kv_indices_arr[0, :shared]
    own = paged_kv_indices_arr[1]
    tables = [t for i, j in pairwise(ends) for t in (of_all, own[i:j])]
    begins = paged_kv_indptr_arr[1] + shared * torch.arange(len(ends), device=q.device)
    fictl: Any = import_module("fictl.ops")
    wrapper = fictl.BatchDecodeWithPagedKVCacheWrapper(_workspace(q.device))
    wrapper.plan(
        begins.int(),
        torch.cat(tables),
        paged_kv_last_page_len[1],
        num_qo_heads,
        num_kv_heads,
        head_dim,
        page_size,
        q_data_type=q.dtype,
        kv_data_type=paged_kv_cache.dtype,
    )
    return lambda: wrapper.run(q, paged_kv_cache)


def _flashinfer(q: torch.Tensor, paged_kv_cache: torch.Tensor, **planned: Any) -> Callable[[], Any]:
    """Run its kernels of the same generation: its own choice on Hopper is another."""
    flashinfer: Any = import_module("flashinfer")
    levels = len(planned["qo_indptr_arr"])
    wrapper = flashinfer.MultiLevelCascadeAttentionWrapper(levels, _workspace(q.device))
    for level in wrapper._batch_prefill_wrappers:  # noqa: SLF001 its constructor has no backend
        level._backend = "fa2"  # noqa: SLF001
    tables = {name: [*x] for name, x in planned.items() if isinstance(x, torch.Tensor)}
    wrapper.plan(**{**planned, **tables}, q_data_type=q.dtype, kv_data_type=paged_kv_cache.dtype)
    return lambda: wrapper.run(q, paged_kv_cache)
