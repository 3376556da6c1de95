"""Prompts as engines call them: whole ones, and the next part of long ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.trace import Case

from .._trace.inputs import workspace

_TRTLLM, _CUDNN = "trtllm_batch_context_with_kv_cache", "cudnn_batch_prefill_with_kv_cache"
_PAGE = 16
# requests, queries of each, keys of each, heads of queries, of keys and values
_PROMPTS = ((4, 4096, 4096, 32, 8), (1, 2048, 32768, 32, 8), (64, 16, 4096, 32, 8))


def cases() -> Iterator[Case]:
    for function in (_TRTLLM, _CUDNN):
        yield _case(function, 3, 7, 40, 4, 2, 64, beyond=5)
    for sizes in _PROMPTS:
        yield _case(_TRTLLM, *sizes)


def _case(
    function: str,
    requests: int,
    queries: int,
    length: int,
    heads: int,
    kv_heads: int,
    dim: int = 128,
    beyond: int = 0,
) -> Case:
    most = -(-length // _PAGE)
    sizes = {
        "tokens": requests * queries + min(beyond, 1),
        "batch_size": requests,
        "pages": requests * most + beyond,
        "most_pages": most,
        "page_size": _PAGE,
        "num_qo_heads": heads,
        "num_kv_heads": kv_heads,
        "head_dim": dim,
    }
    return Case(function, sizes, "bfloat16")


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    """Name what to compare with: paged wrappers, planned before. FlashInfer's is for Blackwell."""
    if function != _TRTLLM:
        return {}
    return {"flashinfer-wrapper": _flashinfer, "fictl-wrapper": _fictl}


def _flashinfer(**inputs: Any) -> Callable[[], Any]:
    flashinfer: Any = import_module("flashinfer")
    device = inputs["query"].device
    memory = torch.empty(256 << 20, dtype=torch.uint8, device=device)
    return _wrapped(flashinfer.BatchPrefillWithPagedKVCacheWrapper(memory, "HND"), **inputs)


def _fictl(**inputs: Any) -> Callable[[], Any]:
    fictl: Any = import_module("fictl.ops")
    memory = workspace(inputs["query"].device)
    return _wrapped(fictl.BatchPrefillWithPagedKVCacheWrapper(memory, "HND"), **inputs)


def _wrapped(
    wrapper: Any,
    query: torch.Tensor,
    kv_cache: torch.Tensor,
    block_tables: torch.Tensor,
    seq_lens: torch.Tensor,
    bmm1_scale: float,
    bmm2_scale: float,
    cum_seq_lens_q: torch.Tensor,
    causal: bool,
    **_others: Any,
) -> Callable[[], Any]:
    heads, slots = kv_cache.shape[2:4]
    counts = (seq_lens + slots - 1) // slots
    indptr = torch.nn.functional.pad(counts.cumsum(0), (1, 0)).int()
    places = torch.arange(block_tables.shape[1], device=query.device)
    used = block_tables[places < counts[:, None]]
    last = (seq_lens - (counts - 1) * slots).clamp(min=0)
    wrapper.plan(
        cum_seq_lens_q,
        indptr,
        used,
        last.int(),
        query.shape[1],
        heads,
        query.shape[2],
        slots,
        causal=causal,
        sm_scale=bmm1_scale,
        q_data_type=query.dtype,
        kv_data_type=kv_cache.dtype,
    )
    return lambda: wrapper.run(query, kv_cache, v_scale=bmm2_scale)
