"""all_reduce in a process for each rank: GPUs, or emulated ones (fictl test --gpus 2)."""

from __future__ import annotations

import random

import pytest
import torch

from fictl.kernels.comm._all_reduce_workspace import AllReduceWorkspace
from fictl.kernels.comm.all_reduce.op import all_reduce
from fictl.kernels.comm.all_reduce_norm.op import all_reduce_norm
from fictl.testing import assert_close

from .on_gpus import half_of_all, on_gpus, on_two_groups
from .reducing import STRATEGIES, of_all_ranks, rank_sum, same_bits

REPLAYS = 10_000


@on_gpus
@pytest.mark.parametrize("strategy", [None, *STRATEGIES])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_bits_of_a_rank_ordered_sum(
    strategy: str | None, dtype: torch.dtype, size: int, ranks, process_group, device: str
) -> None:
    for n in (1, 513, 40_000):
        x = torch.randn(n, device=device).to(dtype)
        expected = rank_sum(of_all_ranks(x))
        assert same_bits(all_reduce(x, strategy=strategy), expected)
        assert same_bits(all_reduce(x, x, strategy=strategy), expected)


@on_gpus
def test_a_norm(size: int, ranks, process_group, device: str) -> None:
    x = torch.randn(5, 512, device=device).to(torch.bfloat16)
    weight = torch.ones(512, device=device, dtype=torch.bfloat16)
    out, added = all_reduce_norm(x, torch.zeros_like(x), weight, eps=0.0)
    total = rank_sum(of_all_ranks(x))
    assert same_bits(added, total)
    mean = total.double().square().mean(-1, keepdim=True)
    assert_close(out, total.double() * torch.rsqrt(mean))
    assert all(same_bits(out, other) for other in of_all_ranks(out))


@on_two_groups
@pytest.mark.parametrize("strategy", [None, *STRATEGIES])
def test_two_groups_and_all_ranks_by_turns(
    strategy: str | None, size: int, ranks, process_group, device: str
) -> None:
    half, begin = size // 2, ranks.rank // (size // 2) * (size // 2)
    mine = AllReduceWorkspace(half_of_all(ranks.rank, size), 1 << 18, device=device)
    for n in (1, 513, 40_000):
        x = torch.randn(n, device=device)
        inputs = of_all_ranks(x)
        of_mine = all_reduce(x, workspace=mine, strategy=strategy)
        assert same_bits(of_mine, rank_sum(inputs[begin : begin + half]))
        assert same_bits(all_reduce(x, strategy=strategy), rank_sum(inputs))
    mine.destroy()


@pytest.mark.needs_gpu
@on_gpus
@pytest.mark.parametrize("nbytes", [1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 26])
def test_sizes_of_prefills(nbytes: int, size: int, ranks, process_group, device: str) -> None:
    x = torch.randn(nbytes // 2, device=device).to(torch.bfloat16)
    expected = rank_sum(of_all_ranks(x))
    for strategy in (None, "one-shot", "two-shot"):
        assert same_bits(all_reduce(x, strategy=strategy), expected)


@pytest.mark.needs_gpu
@on_gpus
@pytest.mark.parametrize("strategy", [None, *STRATEGIES])
def test_graphs_replayed_under_skew(
    strategy: str | None, size: int, ranks, process_group, device: str
) -> None:
    """10,000 replays of graphs with delays of their own on each rank; every sum is compared."""
    n, kinds = 6000, 8
    chance = random.Random(ranks.rank)
    workspace = AllReduceWorkspace(None, 4 * n)
    x = torch.full((n,), float(ranks.rank), device=device)
    wrong = torch.zeros((), dtype=torch.int64, device=device)
    count = torch.zeros((), device=device)
    all_reduce(x, None, workspace, strategy)
    graphs = []
    for _ in range(kinds):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            count.add_(1).remainder_(128)
            x.fill_(float(ranks.rank)).add_(count)
            torch.cuda._sleep(chance.choice([0, 0, 1000, 20_000]))
            all_reduce(x, x, workspace, strategy)
            wrong.add_((x != count * size + sum(range(size))).sum())
        graphs.append(graph)
    for _ in range(REPLAYS):
        graphs[chance.randrange(kinds)].replay()
    torch.cuda.synchronize()
    assert int(wrong) == 0
    workspace.destroy()
