"""Numbers of GPUs that a test with a process for each rank is run on: `fictl test comm --gpus 4`."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
import torch.distributed as dist

from fictl.comm import Group


def _each(sizes: Iterable[int]) -> pytest.MarkDecorator:
    marked = [pytest.param(size, marks=pytest.mark.gpus(size)) for size in sizes]
    return pytest.mark.parametrize("size", marked)


on_gpus = _each((2, 4, 8))
on_two_groups = _each((4, 8))  # TP2 x 2, TP4 x 2


def half_of_all(rank: int, size: int) -> Group:
    """Make two groups of torch's, on all ranks; return this rank's."""
    half = size // 2
    groups = [dist.new_group([*range(first, first + half)]) for first in (0, half)]
    return Group.of(groups[rank // half])
