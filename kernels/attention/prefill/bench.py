"""Prompts that engines prefill: long ones, whole batches, in pages and not, and small odd ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from fictl.trace import Case

from .._trace.torch_attention import attend, gatherer, paged_lengths

# requests, length, heads of queries, of keys and values
_LONG = ((2, 8192, 16, 16), (1, 16384, 16, 16), (8, 2048, 16, 16), (4, 4096, 32, 8))
_DIM, _PAGE = 128, 16
# Sizes of heads of keys and of values: of DeepSeek's prefill, and of what encodes images.
_MLA, _VISION, _SQUARE = (192, 128), ((72, 72), (80, 80)), ((64, 64), (256, 256))
_RAGGED, _PAGED = "BatchPrefillWithRaggedKVCacheWrapper", "BatchPrefillWithPagedKVCacheWrapper"


def cases() -> Iterator[Case]:
    yield _small(13, 3, 5)
    yield _odd_ragged(701, 903, 3)
    for shape in _LONG:
        yield _ragged(*shape)
    yield _ragged(*_LONG[0], causal=False)
    yield _ragged(*_LONG[0], logits_soft_cap=30.0)
    yield _ragged(*_LONG[0], window_left=1023)
    yield _ragged(*_LONG[0], passing=("custom_mask",))
    yield _ragged(*_LONG[0], dims=_MLA)
    for dims in _VISION:
        yield _ragged(64, 576, 16, 16, dims=dims, causal=False)
    for dims in _SQUARE:
        yield _ragged(2, 8192, 2048 // dims[0], 2048 // dims[0], dims=dims)
    for page_size in (_PAGE, 64, 128):
        yield _paged(*_LONG[3], page_size)


def _small(tokens: int, requests: int, used: int) -> Case:
    sizes = {
        "tokens": tokens,
        "requests": requests,
        "pages": used + 1,
        "used_pages": used,
        "page_size": 4,
        "num_qo_heads": 4,
        "num_kv_heads": 2,
        "head_dim_qk": 64,
    }
    return Case(_PAGED, sizes, "bfloat16")


def _odd_ragged(tokens: int, kv_tokens: int, requests: int) -> Case:
    sizes = {
        "len_indptr": requests + 1,
        "tokens": tokens,
        "kv_tokens": kv_tokens,
        "num_qo_heads": 6,
        "num_kv_heads": 2,
        "head_dim_qk": _DIM,
        "head_dim_vo": _DIM,
    }
    return Case(_RAGGED, sizes, "bfloat16")


def _ragged(
    requests: int,
    length: int,
    heads: int,
    kv_heads: int,
    passing: tuple[str, ...] = (),
    dims: tuple[int, int] = (_DIM, _DIM),
    **scalars: float,
) -> Case:
    tokens = requests * length
    sizes = {
        "len_indptr": requests + 1,
        "tokens": tokens,
        "kv_tokens": tokens,
        "num_qo_heads": heads,
        "num_kv_heads": kv_heads,
        "head_dim_qk": dims[0],
        "head_dim_vo": dims[1],
    }
    if passing:
        sizes["mask_bits"] = requests * length**2
    return Case(_RAGGED, sizes, "bfloat16", passing, scalars)


def _paged(requests: int, length: int, heads: int, kv_heads: int, page_size: int) -> Case:
    used = requests * length // page_size
    sizes = {
        "tokens": requests * length,
        "requests": requests,
        "pages": used + used // 8,
        "used_pages": used,
        "page_size": page_size,
        "num_qo_heads": heads,
        "num_kv_heads": kv_heads,
        "head_dim_qk": _DIM,
    }
    return Case(_PAGED, sizes, "bfloat16")


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    """Name what to compare with: torch, cuDNN by torch, and what FlashInfer chooses on the GPU."""
    if function == _PAGED:
        return {"torch": _torch_paged, "flashinfer": _flashinfer_paged}
    return {"torch": _torch_ragged, "cudnn": _cudnn_ragged, "flashinfer": _flashinfer_ragged}


@lru_cache(maxsize=2)
def _workspace(device: torch.device) -> torch.Tensor:
    return torch.empty(256 << 20, dtype=torch.uint8, device=device)


def _flashinfer_ragged(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sinks: None, **planned: Any
) -> Callable[[], Any]:
    flashinfer: Any = import_module("flashinfer")
    wrapper = flashinfer.BatchPrefillWithRaggedKVCacheWrapper(_workspace(q.device), backend="auto")
    wrapper.plan(**planned, q_data_type=q.dtype, kv_data_type=k.dtype)
    return lambda: wrapper.run(q, k, v)


def _flashinfer_paged(
    q: torch.Tensor, paged_kv_cache: torch.Tensor, sinks: None, **planned: Any
) -> Callable[[], Any]:
    flashinfer: Any = import_module("flashinfer")
    wrapper = flashinfer.BatchPrefillWithPagedKVCacheWrapper(_workspace(q.device), backend="auto")
    wrapper.plan(**planned, q_data_type=q.dtype, kv_data_type=paged_kv_cache.dtype)
    return lambda: wrapper.run(q, paged_kv_cache)


def _torch_ragged(
    qo_indptr: torch.Tensor,
    kv_indptr: torch.Tensor,
    causal: bool,
    window_left: int,
    logits_soft_cap: float,
    custom_mask: torch.Tensor | None,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    **_others: Any,
) -> Callable[[], torch.Tensor]:
    lengths, kv_lengths = qo_indptr.diff().tolist(), kv_indptr.diff().tolist()
    masks = None
    if custom_mask is not None:
        sizes = [n * m for n, m in zip(lengths, kv_lengths, strict=True)]
        parts = zip(torch.split(custom_mask, sizes), lengths, kv_lengths, strict=True)
        masks = [bits.view(n, m) for bits, n, m in parts]
    queries, keys, values = (
        torch.split(q, lengths),
        torch.split(k, kv_lengths),
        torch.split(v, kv_lengths),
    )
    run = attend(queries, kv_lengths, causal, window_left, logits_soft_cap, masks)
    return lambda: run(keys, values)


def _cudnn_ragged(
    qo_indptr: torch.Tensor,
    kv_indptr: torch.Tensor,
    causal: bool,
    window_left: int,
    logits_soft_cap: float,
    custom_mask: torch.Tensor | None,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    **_others: Any,
) -> Callable[[], torch.Tensor]:
    lengths = {*qo_indptr.diff().tolist(), *kv_indptr.diff().tolist()}
    others = window_left >= 0 or logits_soft_cap or custom_mask is not None
    if not q.is_cuda or len(lengths) != 1 or others:
        raise NotImplementedError("cuDNN's attention is timed on GPUs, of one length, as it is")
    (length,) = lengths
    queries, keys, values = (x.view(-1, length, *x.shape[1:]).transpose(1, 2) for x in (q, k, v))
    gqa = q.shape[1] != k.shape[1]

    def run() -> torch.Tensor:
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            out = torch.nn.functional.scaled_dot_product_attention(
                queries, keys, values, is_causal=causal, enable_gqa=gqa
            )
        return out.transpose(1, 2).flatten(0, 1)

    return run


def _torch_paged(
    qo_indptr: torch.Tensor,
    paged_kv_indptr: torch.Tensor,
    paged_kv_indices: torch.Tensor,
    paged_kv_last_page_len: torch.Tensor,
    causal: bool,
    window_left: int,
    logits_soft_cap: float,
    q: torch.Tensor,
    paged_kv_cache: torch.Tensor,
    **_others: Any,
) -> Callable[[], torch.Tensor]:
    table = (paged_kv_indptr, paged_kv_indices, paged_kv_last_page_len)
    gather = gatherer(paged_kv_cache, *table)
    lengths = paged_lengths(paged_kv_indptr, paged_kv_last_page_len, paged_kv_cache.shape[2])
    queries = torch.split(q, qo_indptr.diff().tolist())
    run = attend(queries, lengths, causal, window_left, logits_soft_cap)
    return lambda: run(*gather())
