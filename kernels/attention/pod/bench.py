"""Steps of engines that decode a batch while they prefill."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.trace import Case

_ONE, _BATCH = "PODWithPagedKVCacheWrapper", "BatchPODWithPagedKVCacheWrapper"


def cases() -> Iterator[Case]:
    yield _one(9, 11, 3, 5, 4, (4, 2), 64)
    yield _batch((20, 2, 7), (3, 3, 5), 4, (4, 2), 64)
    yield _one(4096, 4096, 64, 64 * 256, 16, (32, 8), 128)
    yield _batch((4096, 2, 512), (64, 64, 64 * 256), 16, (32, 8), 128)


def _sizes(page_size: int, heads: tuple[int, int], dim: int) -> dict[str, int]:
    names = ("page_size", "num_qo_heads", "num_kv_heads", "head_dim")
    return dict(zip(names, (page_size, *heads, dim), strict=True))


def _one(
    queries: int,
    keys: int,
    requests: int,
    used: int,
    page_size: int,
    heads: tuple[int, int],
    dim: int,
) -> Case:
    sizes = {"qo_len": queries, "kv_len": keys, "requests": requests, "used_pages": used}
    sizes |= {"pages": used + 2, **_sizes(page_size, heads, dim)}
    return Case(_ONE, sizes, "bfloat16")


def _batch(
    prefill: tuple[int, int, int],
    decode: tuple[int, int, int],
    page_size: int,
    heads: tuple[int, int],
    dim: int,
) -> Case:
    """Make a case of (queries, requests, pages) of each batch."""
    sizes = _sizes(page_size, heads, dim)
    for end, (tokens, requests, used) in (("p", prefill), ("d", decode)):
        sizes |= {f"tokens_{end}": tokens, f"requests_{end}": requests}
        sizes |= {f"used_pages_{end}": used, f"pages_{end}": used + 2}
    return Case(_BATCH, sizes, "bfloat16")


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    """Name what to compare with: FlashInfer's kernel of both."""
    return {"flashinfer": _flashinfer_batch if function == _BATCH else _flashinfer}


def _made(name: str, device: torch.device) -> Any:
    flashinfer: Any = import_module("flashinfer")
    return getattr(flashinfer, name)(torch.empty(256 << 20, dtype=torch.uint8, device=device))


def _flashinfer(
    q_p: torch.Tensor,
    k_p: torch.Tensor,
    v_p: torch.Tensor,
    q_d: torch.Tensor,
    paged_kv_cache_d: torch.Tensor,
    causal_p: bool,
    **planned: Any,
) -> Callable[[], Any]:
    wrapper = _made(_ONE, q_d.device)
    wrapper.plan(**planned, q_data_type=q_d.dtype, kv_data_type=paged_kv_cache_d.dtype)
    return lambda: wrapper.run(q_p, k_p, v_p, q_d, paged_kv_cache_d, causal_p=causal_p)


def _flashinfer_batch(
    q_p: torch.Tensor,
    paged_kv_cache_p: torch.Tensor,
    q_d: torch.Tensor,
    paged_kv_cache_d: torch.Tensor,
    causal_p: bool,
    **planned: Any,
) -> Callable[[], Any]:
    wrapper = _made(_BATCH, q_d.device)
    wrapper.plan(**planned, q_data_type=q_d.dtype, kv_data_type=paged_kv_cache_d.dtype)
    return lambda: wrapper.run(q_p, paged_kv_cache_p, q_d, paged_kv_cache_d, causal_p=causal_p)
