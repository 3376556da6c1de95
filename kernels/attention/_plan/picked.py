"""Some requests of a batch, planned by themselves: their tokens and pages are those of the batch."""

from __future__ import annotations

import torch

from .lengths import Lengths
from .shift import Shift


def pick(batch: Lengths, chosen: torch.Tensor) -> Lengths:
    """Return the lengths of the requests that are chosen: bools, for each of them."""
    assert batch.qo is not None
    if bool(chosen.all()):
        return batch
    queries, query_shift = _picked(batch.qo, chosen)
    keys, key_shift = _picked(batch.kv, chosen)
    return batch._replace(
        requests=len(queries) - 1,
        qo=queries,
        kv=keys,
        kv_lens=None if batch.kv_lens is None else batch.kv_lens[chosen],
        last_page_len=None if batch.last_page_len is None else batch.last_page_len[chosen],
        shift=Shift(
            chosen.nonzero()[:, 0], query_shift, key_shift, int(batch.qo[-1]), int(batch.kv[-1])
        ),
    )


def _picked(indptr: torch.Tensor, chosen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the offsets of those that are chosen, behind one another, and what they lack."""
    sizes = indptr.diff()[chosen]
    ends = torch.nn.functional.pad(sizes.cumsum(0), (1, 0)).int()
    return ends, indptr[:-1][chosen] - ends[:-1]
