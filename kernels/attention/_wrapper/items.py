"""Scoring several items behind one prefix at once: what their tokens see, as spans of keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch

from .._plan.lengths import Lengths
from .masks import counts

SPANS = "Spans"  # the C++ variant


class Items(NamedTuple):
    """Items of each request, as plan() is told.

    prefix_lens: (requests,): tokens before the first item.
    positions: (requests * length,): the place of each token behind the prefix in its item, from 0 on
        for what parts items; `length` of each request, padded.
    """

    prefix_lens: torch.Tensor | None
    positions: torch.Tensor | None
    length: int
    longest: torch.Tensor | None

    @property
    def given(self) -> bool:
        """Tell whether there are any."""
        return any(x is not None for x in (self.prefix_lens, self.positions, self.longest))

    def check(self, op: str, requests: int, others: Mapping[str, object]) -> None:
        """Refuse items of the wrong shape, or beside another mask."""
        for name, other in others.items():
            if other is not None:
                raise ValueError(
                    f"{op}: argument '{name}' is given beside 'prefix_len_ptr', by which tokens see "
                    "their prefix and their item; pass one of both"
                )
        for name, x, count in (
            ("prefix_len_ptr", self.prefix_lens, requests),
            ("token_pos_in_items_ptr", self.positions, requests * self.length),
        ):
            if x is None:
                raise ValueError(
                    f"{op}: argument '{name}' is None; scoring several items takes prefix_len_ptr, "
                    "token_pos_in_items_ptr and token_pos_in_items_len"
                )
            if x.is_floating_point() or x.dtype is torch.bool or x.numel() != count:
                raise ValueError(
                    f"{op}: argument '{name}' has {x.numel()} elements of {x.dtype}; here it is "
                    f"{count} integers, for {requests} requests"
                )
        if self.length < 1 and requests:
            raise ValueError(
                f"{op}: argument 'token_pos_in_items_len' is {self.length}; it is at least 1"
            )


def item_spans(batch: Lengths, items: Items, device: torch.device) -> torch.Tensor:
    """Compute two spans for each query, (queries, 4): its prefix, and its item up to itself.

    Tokens of the prefix see what is not after them, which causality says. What parts two items sees
    the prefix alone. Nothing is read on the host.
    """
    assert items.prefix_lens is not None
    assert items.positions is not None
    queries, keys = (x.to(device) for x in counts(batch))
    total = (
        int(batch.qo[-1] - batch.qo[0]) if batch.qo is not None else batch.requests * batch.q_len
    )
    numbers = torch.arange(batch.requests, device=device)
    request = torch.repeat_interleave(numbers, queries, output_size=total)
    begins = (queries.cumsum(0) - queries)[request]
    own = torch.arange(total, device=device) - begins + (keys - queries)[request]
    prefix = items.prefix_lens.to(device).long().view(-1)[request]
    behind = own - prefix
    table = items.positions.to(device).long().view(batch.requests, -1)
    position = table[request, behind.clamp(0, items.length - 1)]
    in_item = (behind >= 0) & (behind < items.length)
    first = torch.where(in_item, own - position + 1, 0)
    last = torch.where(in_item, own, -1)
    spans = torch.stack([torch.zeros_like(own), prefix - 1, first, last], -1).int()
    skipped = 0 if batch.qo is None else int(batch.qo[0])
    return torch.nn.functional.pad(spans, (0, 0, skipped, 0))
