"""Shift: from a list of requests that were planned by themselves to the places of their batch."""

from __future__ import annotations

from typing import NamedTuple

import torch

# Numbers of an item and of a merge, as work.cuh has them: which of them are moved.
_REQUEST, _Q_START, _KV_START = 0, 2, 4
_MERGE_Q_START, _MERGE_REQUEST = 2, 5


class Shift(NamedTuple):
    """Distances of a request's queries and keys from where its plan has them.

    `requests` are their numbers in the batch, whose ends `query_end` and `key_end` are.
    """

    requests: torch.Tensor
    queries: torch.Tensor
    keys: torch.Tensor
    query_end: int
    key_end: int

    def items(self, items: torch.Tensor) -> None:
        """Move the items of a list, in place."""
        at = items[:, _REQUEST].long()
        items[:, _Q_START] += self.queries[at]
        items[:, _KV_START] += self.keys[at]

    def merges(self, merges: torch.Tensor) -> None:
        """Move the merges of a list, in place."""
        merges[:, _MERGE_Q_START] += self.queries[merges[:, _MERGE_REQUEST].long()]
