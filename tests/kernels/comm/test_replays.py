"""Calls of ops of several ranks by turns of two sizes; on a GPU 10,000 of them in graphs, under skew.

What only a GPU shows: ranks that are ahead of others, kernels that begin while the one before ends,
and memory that is written over links.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
import torch

from fictl.comm import Group
from fictl.testing import run_ranks

from .on_gpus import half_of_all, on_gpus, on_two_groups
from .replaying import OPS, ROWS, Repeated

REPLAYS = 10_000
DELAYS = (0, 0, 1000, 20_000)  # clocks


class Graphs:
    """A rank's calls as graphs: of each number of rows, with each delay before."""

    def __init__(self, repeated: Repeated) -> None:
        self.stream = torch.cuda.Stream()
        self.wrong = torch.zeros((), dtype=torch.int64, device=repeated.device)
        self.graphs = [[self._of(repeated, rows, clocks) for clocks in DELAYS] for rows in ROWS]

    def _of(self, repeated: Repeated, rows: int, clocks: int) -> torch.cuda.CUDAGraph:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self.stream):
            repeated.begin()
            torch.cuda._sleep(clocks)
            self.wrong.add_((repeated.call(rows) != repeated.expected()).sum())
        return graph

    def replay(self, turn: int, delay: int) -> None:
        with torch.cuda.stream(self.stream):
            self.graphs[turn][delay].replay()


def _replayed(repeated: Sequence[Repeated], sizes: random.Random) -> list[int]:
    """Replay graphs, of which those of all ranks are of the same sizes; return what was wrong."""
    ranks = [Graphs(one) for one in repeated]
    torch.cuda.synchronize()
    delays = random.Random(repeated[0].rank)
    for _ in range(REPLAYS):
        turn = sizes.randrange(len(ROWS))
        for rank in delays.sample(ranks, len(ranks)):
            rank.replay(turn, delays.randrange(len(DELAYS)))
    torch.cuda.synchronize()
    return [int(rank.wrong) for rank in ranks]


def _called(repeated: Sequence[Repeated], rows: int) -> None:
    for one in repeated:
        one.begin()
    outs = run_ranks([lambda one=one: one.call(rows) for one in repeated])
    for one, out in zip(repeated, outs, strict=True):
        assert (out == one.expected()).all()


@pytest.mark.parametrize("op", OPS)
def test_calls_of_two_sizes_by_turns(op: type[Repeated], device: str) -> None:
    repeated = [op(group, device) for group in Group.local(2)]
    for rows in (*ROWS, *ROWS):
        _called(repeated, rows)


@pytest.mark.needs_gpu
@pytest.mark.parametrize("op", OPS)
def test_graphs_of_ranks_on_streams_of_one_gpu(op: type[Repeated], device: str) -> None:
    repeated = [op(group, device) for group in Group.local(4)]
    for rows in ROWS:  # Why: loading a kernel would wait for the others.
        _called(repeated, rows)
    assert _replayed(repeated, random.Random(1)) == [0] * 4


@pytest.mark.needs_gpu
@on_gpus
@pytest.mark.parametrize("op", OPS)
def test_graphs_of_ranks_with_a_gpu_each(
    op: type[Repeated], size: int, ranks, process_group, device: str
) -> None:
    assert _replayed_alone(op(Group.of(), device)) == 0


@pytest.mark.needs_gpu
@on_two_groups
@pytest.mark.parametrize("op", OPS)
def test_graphs_of_two_groups_at_the_same_time(
    op: type[Repeated], size: int, ranks, process_group, device: str
) -> None:
    assert _replayed_alone(op(half_of_all(ranks.rank, size), device)) == 0


def _replayed_alone(repeated: Repeated) -> int:
    """Replay one rank's graphs; return what was wrong."""
    for rows in ROWS:
        repeated.begin()
        assert (repeated.call(rows) == repeated.expected()).all()
    (wrong,) = _replayed([repeated], random.Random(1))
    return wrong
