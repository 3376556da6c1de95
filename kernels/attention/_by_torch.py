"""Attention of batches by the one that torch chooses, for benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

Tensors = Sequence[torch.Tensor]


def pages_of(
    cache: torch.Tensor, begins: torch.Tensor, indices: torch.Tensor, last: torch.Tensor
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Keys and values of each request behind one another, which a cache does not give."""
    keys, values, ends = [], [], begins.tolist()
    for i, used in enumerate(last.tolist()):
        pages = indices[ends[i] : ends[i + 1]].long()
        length = (len(pages) - 1) * cache.shape[2] + used if len(pages) else 0
        keys.append(cache[pages, 0].flatten(0, 1)[:length])
        values.append(cache[pages, 1].flatten(0, 1)[:length])
    return keys, values


def attend(
    queries: Tensors,
    keys: Tensors,
    values: Tensors,
    causal: bool,
    window_left: int,
    logits_soft_cap: float,
    masks: Tensors | None = None,
) -> Callable[[], torch.Tensor]:
    """One call where all requests are of one length, else one for each."""
    if logits_soft_cap:
        raise NotImplementedError("torch's attention has no soft cap")
    shapes = {(len(q), len(k)) for q, k in zip(queries, keys, strict=True)}
    if len(shapes) == 1 and masks is None:
        batch = [torch.stack([*each]).transpose(1, 2) for each in (queries, keys, values)]
        run = _of_one_length(batch, causal, window_left)
        return lambda: run().transpose(1, 2).flatten(0, 1)
    given: Sequence[torch.Tensor | None] = masks or [None] * len(queries)
    runs = [
        _of_one_length([x.transpose(0, 1)[None] for x in each[:3]], causal, window_left, each[3])
        for each in zip(queries, keys, values, given, strict=True)
    ]
    return lambda: torch.cat([run()[0].transpose(0, 1) for run in runs])


def _of_one_length(
    batch: Tensors, causal: bool, window_left: int, mask: torch.Tensor | None = None
) -> Callable[[], torch.Tensor]:
    """Of (requests, heads, tokens, dim). A row that sees nothing is 0, not NaN."""
    q, k, v = batch
    length, kv_length = q.shape[2], k.shape[2]
    # What torch calls causal is aligned at the first key.
    plain = mask is None and length == kv_length and window_left < 0
    if mask is None and not plain:
        mask = _mask(length, kv_length, causal, window_left, q.device)
    some = None if mask is None or bool(mask.any(-1).all()) else mask.any(-1)[:, None]

    def run() -> torch.Tensor:
        out = torch.nn.functional.scaled_dot_product_attention(
            q, k, v, mask, is_causal=causal and plain, enable_gqa=q.shape[1] != k.shape[1]
        )
        return out if some is None else torch.where(some, out, 0.0)

    return run


def _mask(
    length: int, kv_length: int, causal: bool, window_left: int, device: torch.device
) -> torch.Tensor | None:
    """None where torch needs none."""
    keys = torch.arange(kv_length, device=device)
    distance = keys - torch.arange(length, device=device)[:, None] - (kv_length - length)
    seen = torch.ones_like(distance, dtype=torch.bool)
    if causal:
        seen &= distance <= 0
    if window_left >= 0:
        seen &= distance >= -window_left
    return None if bool(seen.all()) else seen
