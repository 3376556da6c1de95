"""Masks of the ranks that take part in an exchange of tokens: the others have failed."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from .moe_a2a.layout import all_ranks

__all__ = ["moe_a2a_active_rank_mask"]

_WORDS = 1


def moe_a2a_active_rank_mask(active_ranks: Iterable[int], ep_size: int) -> torch.Tensor:
    """Return the mask of the ranks that take part: one uint64 on the CPU, a bit for each of them.

    active_ranks: numbers from 0 to ep_size - 1, also as a tensor.
    """
    bits = 0
    for rank in map(int, active_ranks):
        if not 0 <= rank < min(ep_size, 64 * _WORDS):
            raise ValueError(f"moe_a2a_active_rank_mask: rank {rank} of {ep_size} ranks")
        bits |= 1 << rank
    return torch.tensor([bits], dtype=torch.uint64)


def active_bits(
    op: str, mask: torch.Tensor | None, is_enabled: bool, rank: int, ep_size: int
) -> int:
    """Return the bits of the ranks that take part; without a mask, of all."""
    if not is_enabled:
        if mask is not None:
            raise ValueError(f"{op}: active_rank_mask needs enable_rank_mask=True")
        return all_ranks(ep_size)
    if mask is None:
        raise ValueError(
            f"{op}: enable_rank_mask is set, and there is no active_rank_mask; pass "
            f"moe_a2a_active_rank_mask(range({ep_size}), {ep_size}) for all ranks"
        )
    if mask.device.type != "cpu" or mask.dtype != torch.uint64 or mask.shape != (_WORDS,):
        raise ValueError(
            f"{op}: active_rank_mask is {mask.dtype} of shape {tuple(mask.shape)} on "
            f"{mask.device}; expected what moe_a2a_active_rank_mask() returns"
        )
    bits = int(mask.view(torch.int64).item()) & all_ranks(ep_size)
    if not bits >> rank & 1:
        raise ValueError(f"{op}: active_rank_mask is without this rank, {rank}: it does not call")
    return bits
