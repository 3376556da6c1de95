"""Custom masks as kernels read them: bits, each request from a byte of its own on."""

from __future__ import annotations

from collections.abc import Callable

import torch

from .._plan.lengths import Lengths

SegmentPackbits = Callable[..., tuple[torch.Tensor, torch.Tensor]]


def packed_mask(
    op: str,
    lengths: Lengths,
    size: int,
    *,
    custom_mask: torch.Tensor | None,
    packed: torch.Tensor | None,
    segment_packbits: SegmentPackbits,
    device: torch.device,
) -> torch.Tensor:
    """Return at least `size` bytes: the packed mask, or the mask of bools packed now."""
    if packed is not None:
        check_bits(op, packed, size)
        return packed.contiguous().view(-1)
    assert custom_mask is not None
    starts = mask_starts(lengths)
    if custom_mask.numel() != int(starts[-1]):
        raise ValueError(
            f"{op}: argument 'custom_mask' has {custom_mask.numel()} elements; the requests have "
            f"{int(starts[-1])} scores"
        )
    bits = custom_mask.to(device).contiguous().view(-1)
    out = torch.empty(size, dtype=torch.uint8, device=device)
    segment_packbits(bits, starts.to(device), bitorder="little", out=out)
    return out


def check_bits(op: str, packed: torch.Tensor, size: int) -> None:
    """Raise ValueError where a packed mask is too short, or not of bytes."""
    if packed.dtype is not torch.uint8 or packed.numel() < size:
        raise ValueError(
            f"{op}: argument 'packed_custom_mask' has {packed.numel()} elements of {packed.dtype}; "
            f"the scores take {size} of torch.uint8, those of each request from a byte of its own "
            "on, as segment_packbits(..., bitorder='little') packs them"
        )


def counts(lengths: Lengths) -> tuple[torch.Tensor, torch.Tensor]:
    """Count the queries and the keys of each request, on the host."""
    queries = torch.full((lengths.requests,), lengths.q_len, dtype=torch.int64)
    if lengths.qo is not None:
        queries = lengths.qo.diff().long()
    keys = lengths.kv.diff().long()
    if lengths.kv_lens is not None:
        keys = lengths.kv_lens.long()
    elif lengths.last_page_len is not None:
        used = (keys - 1) * lengths.page_size + lengths.last_page_len
        keys = torch.where(keys > 0, used, keys)
    return queries, keys


def mask_starts(lengths: Lengths) -> torch.Tensor:
    """Compute the first score of each request, and the number of all."""
    queries, keys = counts(lengths)
    return torch.cat([torch.zeros(1, dtype=torch.int64), (queries * keys).cumsum(0)])
