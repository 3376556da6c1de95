"""What test_launchers.py has two processes run: a test as a user writes it, and two that go wrong."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist


@pytest.mark.gpus(2)
def test_a_sum_over_the_ranks(ranks, process_group) -> None:
    mine = torch.full((4,), float(ranks.rank + 1))
    dist.all_reduce(mine)
    assert mine.tolist() == [3.0] * 4


@pytest.mark.gpus(2)
def test_the_failure_of_one_rank(ranks, process_group) -> None:
    assert ranks.rank == 0


@pytest.mark.gpus(2)
def test_the_ranks_are_together_after_it(ranks, process_group) -> None:
    mine = torch.tensor([float(ranks.rank)])
    dist.broadcast(mine, src=1)
    assert mine.item() == 1.0


def test_for_one_process(ranks) -> None:
    assert ranks.size >= 1
