"""all_reduce over several ranks: bits, sizes, zeros, orders of ranks, refusals, and graphs."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest
import torch

from fictl.comm import Group
from fictl.kernels.comm._all_reduce_workspace import AllReduceWorkspace
from fictl.kernels.comm._crossovers import LAMPORT, TWO_SHOT, crossovers
from fictl.kernels.comm.all_reduce.op import all_reduce
from fictl.testing import run_ranks

from .reducing import STRATEGIES, Reducing, rank_sum, same_bits

DTYPES = (torch.float16, torch.bfloat16, torch.float32)


def _inputs(size: int, n: int, dtype: torch.dtype, device: str) -> list[torch.Tensor]:
    """Values with many zeros of both signs; each rank's tensor is aligned in its own way."""
    inputs = []
    for rank in range(size):
        x = torch.randn(n + rank % 2, device=device).to(dtype)[rank % 2 :]
        x[torch.rand(n, device=device) < 0.2] = -0.0
        inputs.append(x)
    return inputs


@pytest.mark.parametrize("size", range(1, 9))
def test_the_bits_of_a_rank_ordered_sum_whatever_the_calls(size: int, device: str) -> None:
    chance = random.Random(size)
    ranks = Reducing(size, device)
    for _ in range(12):  # so that buffers are used again, by calls of other kinds
        dtype, n = chance.choice(DTYPES), chance.choice([1, 7, 8, 513, chance.randrange(1, 6000)])
        ranks.limit_blocks(chance.choice([1, 2, 3, 16]))
        inputs = _inputs(size, n, dtype, device)
        expected = rank_sum(inputs)
        outs = inputs if chance.random() < 0.5 else [torch.empty_like(x) for x in inputs]
        strategy = chance.choice([None, *STRATEGIES])
        ranks.call(all_reduce, inputs, outs, strategy=strategy)
        assert [same_bits(out, expected) for out in outs] == [True] * size, (dtype, n, strategy)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("vecs", [64, 128, 512, 1024, 1536, 2048, 3072])
def test_sizes_around_each_change_of_the_tiling(vecs: int, strategy: str, device: str) -> None:
    """Sizes behind which two blocks have other threads, vectors of a thread, or steps."""
    ranks = Reducing(2, device, 1 << 17)
    ranks.limit_blocks(1)
    for n in (vecs * 8 - 3, vecs * 8, vecs * 8 + 1, vecs * 8 + 8 * 37):
        inputs = _inputs(2, n, torch.bfloat16, device)
        expected = rank_sum(inputs)
        outs = ranks.call(all_reduce, inputs, strategy=strategy)
        assert [same_bits(out, expected) for out in outs] == [True] * 2, n


@pytest.mark.parametrize("strategies", [(one,) for one in STRATEGIES] + [STRATEGIES])
def test_ten_calls_of_grids_that_grow_and_shrink(strategies: tuple[str, ...], device: str) -> None:
    """Blocks that a grid does not have find in the next one how often the others were called."""
    ranks = Reducing(3, device)
    for turn in range(10):
        ranks.limit_blocks((1, 16, 2, 64)[turn % 4])
        inputs = _inputs(3, (6000, 9, 1500)[turn % 3], torch.float32, device)
        expected = rank_sum(inputs)
        outs = ranks.call(all_reduce, inputs, strategy=strategies[turn % len(strategies)])
        assert [same_bits(out, expected) for out in outs] == [True] * 3, turn


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", range(3))
def test_any_order_of_ranks_and_blocks(
    strategy: str, seed: int, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FICTL_EMU_SCHEDULE", f"random-{seed}")
    ranks = Reducing(4, device)
    ranks.limit_blocks(3)
    for _ in range(2):
        inputs = _inputs(4, 2000, torch.bfloat16, device)
        expected = rank_sum(inputs)
        assert all(
            same_bits(out, expected) for out in ranks.call(all_reduce, inputs, strategy=strategy)
        )


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_that_are_like_the_sentinel(dtype: torch.dtype, device: str) -> None:
    """Pieces of -0.0, NaN of any bits, infinities, and what is too small for a normal number."""
    words = torch.tensor([0x80000000, 0x8000, 0x80008000, 0x7FC00001, 0xFFC0FFC0, 1, 0x7F800000])
    one = words.to(torch.int64).to(torch.int32).view(dtype).to(device).repeat(8)
    ranks = Reducing(3, device)
    for strategy in STRATEGIES:
        outs = ranks.call(all_reduce, [one] * 3, strategy=strategy)
        torch.testing.assert_close(outs[0], rank_sum([one] * 3), equal_nan=True, rtol=0, atol=0)
        assert all(same_bits(out, outs[0]) for out in outs)


def test_two_workspaces_of_the_same_ranks(device: str) -> None:
    """Two communicators: calls of one do not touch the buffers of the other."""
    first, second = Reducing(2, device), Reducing(2, device)
    inputs = _inputs(2, 300, torch.float32, device)
    for ranks in (first, second, second, first, second):
        assert same_bits(ranks.call(all_reduce, inputs)[1], rank_sum(inputs))


def test_a_workspace_made_anew(device: str) -> None:
    ranks = Reducing(2, device)
    inputs = _inputs(2, 300, torch.float16, device)
    for workspace in ranks.workspaces:
        workspace.destroy()
    with pytest.raises(Exception, match="destroyed"):
        all_reduce(inputs[0], workspace=ranks.workspaces[0])
    for workspace in ranks.workspaces:
        workspace.rebuild()
    assert same_bits(ranks.call(all_reduce, inputs)[0], rank_sum(inputs))


def test_a_single_rank_needs_no_workspace(device: str) -> None:
    x = torch.tensor([1.0, -0.0], device=device)
    assert same_bits(all_reduce(x), torch.tensor([1.0, 0.0], device=device))
    assert all_reduce(x[:0]).shape == (0,)


def test_a_single_rank_whose_inputs_grow(device: str) -> None:
    """A single rank has one workspace for all sizes, whatever size its first call has."""
    for nbytes in (8, 9 << 20):
        x = torch.ones(nbytes // 4, device=device)
        assert torch.equal(all_reduce(x), x)


def test_the_way_follows_from_bytes_and_ranks() -> None:
    four = crossovers("nvlink", 4)
    assert four.chosen(4096) == LAMPORT
    assert four.chosen(1 << 26) == TWO_SHOT
    assert crossovers("nvlink", 8) == crossovers("nvlink", 6)
    for ranks, with_norm in product(range(1, 9), (False, True)):
        row = crossovers("nvlink", ranks, with_norm=with_norm)
        limits = [limit for limit in row if limit]
        assert limits == sorted(limits)
        # Buffers are made for sums, whatever uses them.
        assert row.most_by_lamport <= crossovers("nvlink", ranks).most_by_lamport


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n": 1 << 16}, "'workspace' is for inputs of up to 65536 bytes, this one has 131072"),
        ({"strategy": "fast"}, "argument 'strategy' is 'fast'; accepted: lamport, one-shot"),
        ({"out": torch.float32}, "argument 'out' has dtype float32, 'input' has float16"),
    ],
)
def test_refusals(options: dict[str, Any], words: str, device: str) -> None:
    ranks = Reducing(2, device)
    x = torch.zeros(options.get("n", 8), dtype=torch.float16, device=device)
    out = x.to(options.get("out", x.dtype))
    with pytest.raises((ValueError, TypeError), match=words):
        ranks.call(all_reduce, [x, x], [out, out], strategy=options.get("strategy"))


def test_lamports_protocol_is_for_few_bytes(device: str) -> None:
    ranks = Reducing(2, device, 8 << 20)
    x = torch.zeros(8 << 19, dtype=torch.float16, device=device)
    with pytest.raises(ValueError, match="buffers for inputs of up to 1048576 bytes"):
        ranks.call(all_reduce, [x, x], strategy="lamport")


REPLAYS = 10_000


@pytest.mark.needs_gpu
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_graphs_replayed_under_skew(strategy: str, device: str) -> None:
    """Ranks on streams of one GPU, each delayed at random; every sum of 10,000 is compared."""
    size, n, kinds = 4, 6000, 8
    ranks = Reducing(size, device)
    chance = random.Random(1)
    x = [torch.full((n,), float(rank), device=device) for rank in range(size)]
    wrong = [torch.zeros((), dtype=torch.int64, device=device) for _ in range(size)]
    count = [torch.zeros((), device=device) for _ in range(size)]
    ranks.call(all_reduce, x, strategy=strategy)  # Why: loading a kernel would wait for the others.
    streams = [torch.cuda.Stream() for _ in range(size)]

    def captured(rank: int) -> torch.cuda.CUDAGraph:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=streams[rank]):
            count[rank].add_(1).remainder_(128)
            x[rank].fill_(float(rank)).add_(count[rank])
            torch.cuda._sleep(chance.choice([0, 0, 1000, 20_000]))
            all_reduce(x[rank], x[rank], ranks.workspaces[rank], strategy)
            total = count[rank] * size + sum(range(size))
            wrong[rank].add_((x[rank] != total).sum())
        return graph

    graphs = [[captured(rank) for _ in range(kinds)] for rank in range(size)]
    torch.cuda.synchronize()
    for _ in range(REPLAYS):
        for rank in chance.sample(range(size), size):
            with torch.cuda.stream(streams[rank]):
                graphs[rank][chance.randrange(kinds)].replay()
    torch.cuda.synchronize()
    assert [int(rank) for rank in wrong] == [0] * size


@pytest.mark.needs_gpu
def test_sizes_of_prefills_on_one_gpu(device: str) -> None:
    ranks = Reducing(2, device, 1 << 24)
    for n in (1 << 19, (1 << 22) + 8):
        inputs = _inputs(2, n, torch.bfloat16, device)
        for strategy in (None, "one-shot", "two-shot"):
            outs = ranks.call(all_reduce, inputs, strategy=strategy)
            assert all(same_bits(out, rank_sum(inputs)) for out in outs)


def test_a_group_of_one_in_a_workspace_of_its_own(device: str) -> None:
    (group,) = Group.local(1)
    workspace = AllReduceWorkspace(group, 64, device=device)
    x = torch.arange(8, device=device, dtype=torch.float32)
    assert same_bits(run_ranks([lambda: all_reduce(x, None, workspace)])[0], x)
