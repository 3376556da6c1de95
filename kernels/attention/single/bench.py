"""Attention of one request: long prompts, odd ones, and one step of decoding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from fictl.trace import Case

from .._trace.torch_attention import attend

_DIM = 128
# From this many heads to a head of keys on FlashInfer is faster with its tensor-core kernel.
_TENSOR_CORE_GROUP = 4


def cases() -> Iterator[Case]:
    yield from _prefill(333, 555, 6, 2)
    yield from _prefill(4096, 4096, 32, 8)
    yield from _prefill(4097, 4097, 20, 4)
    for length, heads, kv_heads in ((17, 4, 2), (1111, 4, 2), (131072, 64, 8), (8191, 32, 32)):
        sizes = {"kv_len": length, "num_qo_heads": heads, "num_kv_heads": kv_heads}
        dims = {"head_dim": _DIM, "head_dim_vo": _DIM}
        yield Case("single_decode_with_kv_cache", {**sizes, **dims}, "bfloat16")


def _prefill(qo_len: int, kv_len: int, heads: int, kv_heads: int) -> Iterator[Case]:
    sizes = {
        "qo_len": qo_len,
        "kv_len": kv_len,
        "num_qo_heads": heads,
        "num_kv_heads": kv_heads,
        "head_dim_qk": _DIM,
        "head_dim_vo": _DIM,
    }
    for function in ("single_prefill_with_kv_cache", "single_prefill_with_kv_cache_return_lse"):
        yield Case(function, sizes, "bfloat16")


def baselines(function: str) -> dict[str, Callable[..., Any]]:
    """Name what to compare with: FlashInfer's kernels of the same generation, and torch."""
    if function == "single_decode_with_kv_cache":
        return {"torch": _torch_decode, "flashinfer": _flashinfer_decode}
    if function == "single_prefill_with_kv_cache":
        return {"torch": _torch, "flashinfer": _flashinfer}
    return {"flashinfer": _flashinfer_lse}


def _flashinfer(**inputs: Any) -> Callable[[], Any]:
    flashinfer: Any = import_module("flashinfer")
    return lambda: flashinfer.single_prefill_with_kv_cache(**inputs, backend="fa2")


def _flashinfer_lse(**inputs: Any) -> Callable[[], Any]:
    return _flashinfer(**inputs, return_lse=True)


def _flashinfer_decode(q: torch.Tensor, k: torch.Tensor, **inputs: Any) -> Callable[[], Any]:
    flashinfer: Any = import_module("flashinfer")
    wide = q.shape[-2] // k.shape[-2] >= _TENSOR_CORE_GROUP
    return lambda: flashinfer.single_decode_with_kv_cache(q, k, use_tensor_cores=wide, **inputs)


def _torch(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    causal: bool,
    window_left: int,
    logits_soft_cap: float,
    custom_mask: torch.Tensor | None = None,
) -> Callable[[], torch.Tensor]:
    masks = None if custom_mask is None else [custom_mask]
    run = attend([q], [len(k)], causal, window_left, logits_soft_cap, masks)
    return lambda: run([k], [v])


def _torch_decode(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, window_left: int, logits_soft_cap: float
) -> Callable[[], torch.Tensor]:
    run = attend([q[None]], [len(k)], True, window_left, logits_soft_cap)
    return lambda: run([k], [v])[0]
