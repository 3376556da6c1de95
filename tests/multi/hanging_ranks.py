"""What test_hangs.py has two processes run: a rank that keeps the other waiting, one that dies."""

from __future__ import annotations

import os
import signal

import pytest
import torch
import torch.distributed as dist


@pytest.mark.gpus(2)
def test_one_never_calls(ranks, process_group) -> None:
    dist.all_reduce(torch.ones(4))
    if ranks.rank == 0:
        dist.all_reduce(torch.ones(4))


@pytest.mark.gpus(2)
def test_one_dies(ranks, process_group) -> None:
    dist.all_reduce(torch.ones(4))
    if ranks.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.broadcast(torch.ones(4), src=1)


@pytest.mark.gpus(2)
def test_the_next_one_runs(ranks, process_group) -> None:
    mine = torch.ones(4)
    dist.all_reduce(mine)
    assert mine.tolist() == [2.0] * 4
