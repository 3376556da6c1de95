"""Work lists written by hand: splits, and entries of nothing, that a planner would not make."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from .reference import Batch

NO_ITEM = (-1, 0, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0)
NO_MERGE = (0,) * 8


@dataclass
class WorkList:
    """Of a batch, each of whose tiles is cut at `cuts`, which are positions of keys."""

    batch: Batch
    rows: int
    cuts: Sequence[int] = ()
    causal: bool = False
    window_left: int = -1
    paged: bool = True
    items: list[tuple[int, ...]] = field(default_factory=list)
    merges: list[tuple[int, ...]] = field(default_factory=list)
    partial_rows: int = 0

    def __post_init__(self) -> None:
        batch = self.batch
        q_start = kv_start = 0
        starts = batch.page_counts if self.paged else batch.kv_lens
        lengths = zip(batch.q_lens, batch.kv_lens, starts, strict=True)
        for request, (q_len, kv_len, count) in enumerate(lengths):
            self._add(request, q_start, q_len, kv_start, kv_len)
            q_start += q_len
            kv_start += count
        self.items.append(NO_ITEM)
        self.merges.append(NO_MERGE)

    def _add(self, request: int, q_start: int, q_len: int, kv_start: int, kv_len: int) -> None:
        group = self.batch.shape.heads // self.batch.shape.kv_heads
        for row in range(0, q_len * group, self.rows):
            valid = min(self.rows, q_len * group - row)
            before = kv_len - q_len
            last = before + (row + valid - 1) // group if self.causal else kv_len - 1
            end = max(min(last + 1, kv_len), 0)
            first = before + row // group - self.window_left if self.window_left >= 0 else 0
            begin = min(max(first, 0), end)
            # Twice the same: a part may be of no keys.
            borders = [begin, *(cut for cut in self.cuts if begin < cut < end), end]
            parts = list(itertools.pairwise(borders))
            partial = self.partial_rows
            for i, part in enumerate(parts):
                to = partial + i * valid if len(parts) > 1 else -1
                self.items.append(
                    (request, row, q_start, q_len, kv_start, kv_len, *part, to, 0, 0, 0)
                )
            if len(parts) > 1:
                self.merges.append(
                    (valid, row, q_start, partial, len(parts), request, q_len, kv_len)
                )
                self.partial_rows += valid * len(parts)

    def tensors(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The items and the merges, the longest last."""
        device = self.batch.device
        return (
            torch.tensor(self.items, dtype=torch.int32, device=device),
            torch.tensor(self.merges, dtype=torch.int32, device=device),
        )
