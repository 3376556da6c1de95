"""Parts of a batch for kernels of different tiles: requests of few queries, and of many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch

from .._arguments.options import Options
from .._backends import AUTO
from .._plan.attention import Work
from .._plan.lengths import Lengths
from .._plan.picked import pick
from .._plan.prefill import prefill_work

# Rows of the shortest tile: queries times the heads that share a head of keys.
_SHORT_ROWS = 16


class Part(NamedTuple):
    """Requests of one kind, as work of a plan."""

    is_short: bool
    work: Work


def parts(op: str, device: torch.device, batch: Lengths, chosen: Options) -> Iterator[Part]:
    """Split a batch by what a request has of queries; a kind that there is none of is left out.

    Why long ones first: their kernel takes whole SMs, and the other one's blocks those that are left.
    """
    assert batch.qo is not None
    queries = batch.qo.diff()
    is_short = queries * chosen.group <= _SHORT_ROWS
    for short in (False, True):
        picked = is_short == short
        if not bool(picked.any()) and not (short and not len(queries)):
            continue
        count = int(queries[picked].sum())
        why = f"{count} queries of {int(picked.sum())} of {len(queries)} requests"
        part = pick(batch, picked)
        yield Part(
            short,
            prefill_work(
                op, device, AUTO, part, chosen, count, masked=False, has_variant=False, why=why
            ),
        )
