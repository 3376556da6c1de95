"""Sizes of sliding_window that users meet: prompts, and a few queries of a long context."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from fictl.bench import compiled
from fictl.trace import Case

from .trace import _seen, sliding_window

# Queries, keys, heads of queries, heads of keys.
_SMALL = ((3, 70, 4, 2), (37, 50, 6, 2))
_LARGE = ((1024, 1024, 32, 8), (4096, 4096, 32, 8), (16, 8192, 32, 8))


def cases() -> Iterator[Case]:
    for sizes, dtype in zip(_SMALL, ("float16", "bfloat16"), strict=True):
        yield _case(sizes, 64, dtype)
    for sizes in _LARGE:
        yield _case(sizes, 128, "bfloat16")


def _case(sizes: tuple[int, ...], head_dim: int, dtype: str) -> Case:
    axes = ("q_len", "kv_len", "heads", "kv_heads")
    of_axes = dict(zip(axes, sizes, strict=True))
    return Case("sliding_window", {**of_axes, "head_dim": head_dim}, dtype)


def baselines() -> dict[str, Callable[..., Any]]:
    return {
        "torch": sliding_window.reference,
        "inductor": compiled(sliding_window.reference),
        "sdpa": _sdpa,
    }


def _sdpa(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, window: int, causal: bool
) -> Callable[[], torch.Tensor]:
    """Compute with the mask as a tensor, made before."""
    seen = _seen(q, k, window, causal)
    heads_first = [x.transpose(0, 1)[None] for x in (q, k, v)]
    attend = torch.nn.functional.scaled_dot_product_attention
    return lambda: attend(*heads_first, attn_mask=seen, enable_gqa=True)[0].transpose(0, 1)
