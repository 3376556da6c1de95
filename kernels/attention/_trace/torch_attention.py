"""Attention of batches by torch, for benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

Tensors = Sequence[torch.Tensor]


def gatherer(
    cache: torch.Tensor, begins: torch.Tensor, indices: torch.Tensor, last: torch.Tensor
) -> Callable[[], tuple[list[torch.Tensor], list[torch.Tensor]]]:
    """Make a function that copies the keys and values of each request out of their pages.

    torch knows no pages, so that who uses it copies them each time.
    """
    ends = begins.tolist()
    pages = [indices[ends[i] : ends[i + 1]].long() for i in range(len(last))]
    lengths = paged_lengths(begins, last, cache.shape[2])

    def gather(which: int) -> list[torch.Tensor]:
        requests = zip(pages, lengths, strict=True)
        return [cache[at, which].flatten(0, 1)[:length] for at, length in requests]

    return lambda: (gather(0), gather(1))


def paged_lengths(begins: torch.Tensor, last: torch.Tensor, page_size: int) -> list[int]:
    """Count the keys of each request."""
    pages = begins.diff().tolist()
    used = zip(pages, last.tolist(), strict=True)
    return [(count - 1) * page_size + end if count else 0 for count, end in used]


def attend(
    queries: Tensors,
    kv_lengths: Sequence[int],
    causal: bool,
    window_left: int,
    logits_soft_cap: float,
    masks: Tensors | None = None,
) -> Callable[[Tensors, Tensors], torch.Tensor]:
    """Make a function of keys and values: one call if all lengths are equal, else one a request."""
    if logits_soft_cap:
        raise NotImplementedError("torch's attention has no soft cap")
    device = queries[0].device
    shapes = [(len(q), length) for q, length in zip(queries, kv_lengths, strict=True)]
    if len({*shapes}) == 1 and masks is None:
        run = _of_one_length(*shapes[0], causal, window_left, device)
        batch = _stacked(queries)
        return lambda k, v: run(batch, _stacked(k), _stacked(v)).transpose(1, 2).flatten(0, 1)
    given: Sequence[torch.Tensor | None] = masks or [None] * len(queries)
    runs = [
        _of_one_length(*shape, causal, window_left, device, mask)
        for shape, mask in zip(shapes, given, strict=True)
    ]
    return lambda keys, values: torch.cat(
        [
            run(*(x.transpose(0, 1)[None] for x in qkv))[0].transpose(0, 1)
            for run, *qkv in zip(runs, queries, keys, values, strict=True)
        ]
    )


def _stacked(parts: Tensors) -> torch.Tensor:
    """Stack to (requests, heads, tokens, dim); a view if contiguous, to see what is written later."""
    first = parts[0]
    step = len(first) * first.stride(0)
    places = [first.data_ptr() + i * step * first.element_size() for i in range(len(parts))]
    if places == [part.data_ptr() for part in parts]:
        whole = first.as_strided((len(parts), *first.shape), (step, *first.stride()))
    else:
        whole = torch.stack([*parts])
    return whole.transpose(1, 2)


def _of_one_length(
    length: int,
    kv_length: int,
    causal: bool,
    window_left: int,
    device: torch.device,
    mask: torch.Tensor | None = None,
) -> Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]:
    """Make a function of (requests, heads, tokens, dim). A row that sees nothing is 0, not NaN."""
    # What torch calls causal is aligned at the first key.
    plain = mask is None and length == kv_length and window_left < 0
    if mask is None and not plain:
        mask = _mask(length, kv_length, causal, window_left, device)
    some = None if mask is None or bool(mask.any(-1).all()) else mask.any(-1)[:, None]

    def run(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        out = torch.nn.functional.scaled_dot_product_attention(
            q, k, v, mask, is_causal=causal and plain, enable_gqa=q.shape[1] != k.shape[1]
        )
        return out if some is None else torch.where(some, out, 0.0)

    return run


def _mask(
    length: int, kv_length: int, causal: bool, window_left: int, device: torch.device
) -> torch.Tensor | None:
    """Make the mask; None where torch needs none."""
    keys = torch.arange(kv_length, device=device)
    distance = keys - torch.arange(length, device=device)[:, None] - (kv_length - length)
    seen = torch.ones_like(distance, dtype=torch.bool)
    if causal:
        seen &= distance <= 0
    if window_left >= 0:
        seen &= distance >= -window_left
    return None if bool(seen.all()) else seen
