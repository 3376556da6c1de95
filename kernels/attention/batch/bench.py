"""Steps of engines that decode many requests while they prefill another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.trace import Case

_NAME = "BatchAttention"
_PAGE = 16


def cases() -> Iterator[Case]:
    yield _case(7, 3, 5, 4, (2, 1), 64)
    yield _case(50, 3, 12, 4, (6, 2), 64)
    # Requests that decode, and one of 512 or 2048 queries.
    for queries, requests, keys in ((512, 64, 8192), (2048, 128, 4096), (0, 128, 8192)):
        used = requests * keys // _PAGE
        tokens = requests - 1 + max(queries, 1)
        yield _case(tokens, requests, used, _PAGE, (32, 8), 128)


def _case(
    tokens: int, requests: int, used: int, page_size: int, heads: tuple[int, int], dim: int
) -> Case:
    sizes = {
        "tokens": tokens,
        "requests": requests,
        "pages": used + 3,
        "used_pages": used,
        "page_size": page_size,
        "num_qo_heads": heads[0],
        "num_kv_heads": heads[1],
        "head_dim_qk": dim,
        "head_dim_vo": dim,
    }
    return Case(_NAME, sizes, "bfloat16")


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    """Name what to compare with; `one_kernel` is prefill's, with tiles for the average request.

    torch is missing: its attention gives no lse.
    """
    return {"one_kernel": _one_kernel, "flashinfer": _flashinfer}


def _last(kv_len_arr: torch.Tensor, page_size: int) -> torch.Tensor:
    return torch.where(kv_len_arr > 0, (kv_len_arr - 1) % page_size + 1, 0).int()


def _one_kernel(q: torch.Tensor, kv_cache: torch.Tensor, **planned: Any) -> Callable[[], Any]:
    fictl: Any = import_module("fictl.ops")
    workspace = torch.empty(256 << 20, dtype=torch.uint8, device=q.device)
    wrapper = fictl.BatchPrefillWithPagedKVCacheWrapper(workspace)
    wrapper.plan(
        planned["qo_indptr"],
        planned["kv_indptr"],
        planned["kv_indices"],
        _last(planned["kv_len_arr"], planned["page_size"]),
        planned["num_qo_heads"],
        planned["num_kv_heads"],
        planned["head_dim_qk"],
        planned["page_size"],
        causal=planned["causal"],
        q_data_type=q.dtype,
        kv_data_type=kv_cache.dtype,
        seq_lens=planned["kv_len_arr"],
    )
    return lambda: wrapper.run(q, kv_cache, return_lse=True)


def _flashinfer(q: torch.Tensor, kv_cache: torch.Tensor, **planned: Any) -> Callable[[], Any]:
    flashinfer: Any = import_module("flashinfer")
    wrapper = flashinfer.BatchAttention(device=str(q.device))
    wrapper.plan(**planned, q_data_type=q.dtype, kv_data_type=kv_cache.dtype)
    return lambda: wrapper.run(q, kv_cache)
