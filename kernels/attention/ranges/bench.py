"""Prompts of text with pictures, whose tokens see each other both ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.trace import Case

_NAME = "BatchPrefillWithCausalBidirectionalRangesWrapper"


def cases() -> Iterator[Case]:
    yield _case(13, 3, 9, 4, (4, 2), 64)
    for requests, length in ((1, 8192), (4, 4096)):
        yield _case(requests * length, requests, requests * length // 16, 16, (32, 8), 128)


def _case(
    tokens: int, requests: int, used: int, page_size: int, heads: tuple[int, int], dim: int
) -> Case:
    sizes = {
        "tokens": tokens,
        "requests": requests,
        "pages": used + 2,
        "used_pages": used,
        "page_size": page_size,
        "num_qo_heads": heads[0],
        "num_kv_heads": heads[1],
        "head_dim_qk": dim,
    }
    return Case(_NAME, sizes, "bfloat16")


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    """Name what to compare with; `causal` is the same without ranges, which walks over half."""
    return {"flashinfer": _flashinfer, "causal": _causal}


_OF_RUN = ("q", "paged_kv_cache", "bidirectional_ranges", "causal_window_left", "range_window_left")


def _flashinfer(**inputs: Any) -> Callable[[], Any]:
    flashinfer: Any = import_module("flashinfer")
    q, cache = inputs["q"], inputs["paged_kv_cache"]
    types = {"q_data_type": q.dtype, "kv_data_type": cache.dtype}
    workspace = torch.empty(256 << 20, dtype=torch.uint8, device=q.device)
    dims = {"head_dim_qk": q.shape[-1], "head_dim_vo": q.shape[-1]}
    wrapper = getattr(flashinfer, _NAME)(workspace, **types, **dims)
    wrapper.plan(**{name: x for name, x in inputs.items() if name not in _OF_RUN}, **types)
    return lambda: wrapper.run(*(inputs[name] for name in _OF_RUN))


def _causal(**inputs: Any) -> Callable[[], Any]:
    fictl: Any = import_module("fictl.ops")
    q, cache = inputs["q"], inputs["paged_kv_cache"]
    workspace = torch.empty(256 << 20, dtype=torch.uint8, device=q.device)
    wrapper = fictl.BatchPrefillWithPagedKVCacheWrapper(workspace)
    planned = {name: x for name, x in inputs.items() if name not in _OF_RUN}
    wrapper.plan(**planned, causal=True, q_data_type=q.dtype, kv_data_type=cache.dtype)
    return lambda: wrapper.run(q, cache)
