"""Cost of a call of attention: the scores that are seen, operations and bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch


def seen(q_len: int, kv_len: int, causal: bool, window_left: int) -> int:
    """Count the scores of a head that no mask takes away."""
    own = torch.arange(q_len) + kv_len - q_len
    last = own.clamp(max=kv_len - 1) if causal else torch.full_like(own, kv_len - 1)
    first = (own - window_left).clamp(min=0) if window_left >= 0 else torch.zeros_like(own)
    return int((last - first + 1).clamp(min=0).sum())


def flops(inputs: Mapping[str, Any], q_lens: list[int], kv_lens: list[int]) -> int:
    """Count the operations of two products for every score that is seen."""
    q: torch.Tensor = inputs["q"]
    mask: torch.Tensor | None = inputs.get("custom_mask")
    causal, window = inputs.get("causal", True), inputs["window_left"]
    counted = sum(
        seen(n, m, bool(causal), int(window)) for n, m in zip(q_lens, kv_lens, strict=True)
    )
    scores = counted if mask is None else int(mask.sum())
    v: torch.Tensor = inputs.get("v", q)
    return 2 * scores * q.shape[-2] * (q.shape[-1] + v.shape[-1])


def moved(inputs: Mapping[str, Any], slots: int, kv: torch.Tensor) -> int:
    """Count the bytes of queries, results, and the keys and values of `slots`."""
    q: torch.Tensor = inputs["q"]
    heads, dim = kv.shape[-2:]
    return 2 * q.numel() * q.element_size() + 2 * slots * heads * dim * kv.element_size()
