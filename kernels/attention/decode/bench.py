"""Steps of decoding: batches from one request to many, groups of heads from one to eight."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from typing import Any

import torch

from fictl.trace import Case

from .._trace.torch_attention import attend, gatherer, paged_lengths

# requests, keys of each, heads of queries, of keys and values
_STEPS = (
    (64, 8192, 32, 8),
    (16, 4096, 64, 8),
    (1, 131072, 64, 8),
    (16, 2048, 32, 32),
    (256, 1024, 32, 8),
)
_DIM, _PAGE = 128, 16
# From this many heads to a head of keys on FlashInfer is faster with its tensor-core kernel.
_TENSOR_CORE_GROUP = 4


def cases() -> Iterator[Case]:
    yield _paged(3, 10, 4, 2, 64, page_size=4)
    for requests, length, heads, kv_heads in _STEPS:
        yield _paged(requests, requests * length // _PAGE, heads, kv_heads, _DIM)
    yield _paged(64, 64 * 8192 // _PAGE, 32, 8, _DIM, window_left=1023)
    graphs = "CUDAGraphBatchDecodeWithPagedKVCacheWrapper"
    yield replace(_paged(7, 64, 4, 2, _DIM), function=graphs)
    yield replace(_paged(64, 64 * 8192 // _PAGE, 32, 8, _DIM), function=graphs)


def _paged(
    requests: int,
    used: int,
    heads: int,
    kv_heads: int,
    dim: int,
    page_size: int = _PAGE,
    **scalars: float,
) -> Case:
    sizes = {
        "requests": requests,
        "pages": used + used // 8,
        "used_pages": used,
        "page_size": page_size,
        "num_qo_heads": heads,
        "num_kv_heads": kv_heads,
        "head_dim": dim,
    }
    return Case("BatchDecodeWithPagedKVCacheWrapper", sizes, "bfloat16", scalars=scalars)


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    """Name what to compare with."""
    return {"torch": _torch_paged, "flashinfer": _flashinfer_paged}


@lru_cache(maxsize=2)
def _workspace(device: torch.device) -> torch.Tensor:
    return torch.empty(256 << 20, dtype=torch.uint8, device=device)


def _flashinfer_paged(
    q: torch.Tensor, paged_kv_cache: torch.Tensor, sinks: None, **planned: Any
) -> Callable[[], Any]:
    """Run that of its two kernels that is faster for such a group."""
    flashinfer: Any = import_module("flashinfer")
    wide = q.shape[-2] // paged_kv_cache.shape[-2] >= _TENSOR_CORE_GROUP
    wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(
        _workspace(q.device), backend="fa2", use_tensor_cores=wide
    )
    wrapper.plan(**planned, q_data_type=q.dtype, kv_data_type=paged_kv_cache.dtype)
    return lambda: wrapper.run(q, paged_kv_cache)


def _torch_paged(
    indptr: torch.Tensor,
    indices: torch.Tensor,
    last_page_len: torch.Tensor,
    window_left: int,
    logits_soft_cap: float,
    q: torch.Tensor,
    paged_kv_cache: torch.Tensor,
    **_others: Any,
) -> Callable[[], torch.Tensor]:
    gather = gatherer(paged_kv_cache, indptr, indices, last_page_len)
    lengths = paged_lengths(indptr, last_page_len, paged_kv_cache.shape[2])
    run = attend(torch.split(q, 1), lengths, True, window_left, logits_soft_cap)
    return lambda: run(*gather())
