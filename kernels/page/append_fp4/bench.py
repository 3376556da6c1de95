"""Sizes of appends to caches of four bits: a step of decoding, a chunk of prompts, small odd ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.trace import Case

from . import trace

_BY_POSITION = "nvfp4_quantize_append_paged_kv_cache"
_BY_SLOT = "nvfp4_quantize_append_paged_kv_cache_with_slot_mapping"
_MLA = "nvfp4_quantize_append_paged_mla_kv_cache"
# tokens, requests, pages that they use, page_size, heads, dim
_SMALL = ((1, 1, 1, 1, 1, 16), (7, 3, 6, 5, 3, 80), (20, 2, 4, 16, 2, 64))
_USERS = (
    (64, 64, 64 * 64, 16, 8, 128),
    (256, 256, 256 * 64, 16, 8, 128),
    (16384, 16, 1024, 16, 8, 128),
)
# tokens, requests, pages, page_size, ckv_dim, kpe_dim
_MLA_SMALL = ((5, 2, 4, 4, 32, 16), (9, 3, 6, 8, 512, 64))
_MLA_USERS = ((64, 64, 64 * 16, 64, 512, 64), (16384, 16, 256, 64, 512, 64))


def cases() -> Iterator[Case]:
    for sizes in _SMALL:
        for dtype in ("float16", "bfloat16"):
            yield _case(*sizes, dtype)
            yield _slot_case(*sizes, dtype)
    for sizes in _USERS:
        yield _case(*sizes, "bfloat16")
        yield _slot_case(*sizes, "bfloat16")
    for sizes in _MLA_SMALL:
        for dtype in ("float16", "bfloat16"):
            yield _mla_case(*sizes, dtype)
    for sizes in _MLA_USERS:
        yield _mla_case(*sizes, "bfloat16")


def _pages(tokens: int, requests: int, used: int, page_size: int) -> dict[str, int]:
    return {
        "tokens": tokens,
        "requests": requests,
        "pages": used + used // 8,
        "used_pages": used,
        "page_size": page_size,
    }


def _case(
    tokens: int, requests: int, used: int, page_size: int, heads: int, dim: int, dtype: str
) -> Case:
    sizes = _pages(tokens, requests, used, page_size) | {"heads": heads, "dim": dim}
    return Case(_BY_POSITION, sizes, dtype)


def _slot_case(
    tokens: int, requests: int, used: int, page_size: int, heads: int, dim: int, dtype: str
) -> Case:
    sizes = {"tokens": tokens, "pages": used, "page_size": page_size, "heads": heads, "dim": dim}
    return Case(_BY_SLOT, sizes, dtype)


def _mla_case(
    tokens: int, requests: int, used: int, page_size: int, ckv_dim: int, kpe_dim: int, dtype: str
) -> Case:
    sizes = _pages(tokens, requests, used, page_size) | {"ckv_dim": ckv_dim, "kpe_dim": kpe_dim}
    return Case(_MLA, sizes, dtype)


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    """FlashInfer's kernels round on other paths: a byte may differ, so that a case may not compare."""
    reference = getattr(trace, function).reference
    outputs = [*getattr(trace, function).outputs]

    def flashinfer(**inputs: Any) -> Callable[[], tuple[torch.Tensor, ...]]:
        page: Any = import_module("flashinfer.page")
        append = getattr(page, function)

        def run() -> tuple[torch.Tensor, ...]:
            append(**inputs)
            return tuple(inputs[name] for name in outputs)

        return run

    return {"torch": reference, "flashinfer": flashinfer}
