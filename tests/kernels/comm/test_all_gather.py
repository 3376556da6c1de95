"""Tests of all_gather beside its trace: several ranks, odd sizes, alignment, and refusals."""

from __future__ import annotations

import pytest
import torch

from fictl.comm import Group, Workspace
from fictl.kernels.comm.all_gather.op import all_gather
from fictl.testing import run_ranks

from .on_gpus import on_gpus


@pytest.mark.parametrize("size", range(1, 9))
def test_any_number_of_ranks(size: int, world, device: str) -> None:
    ranks = world(size)
    for _ in range(3):  # the two halves of the workspace, and the first one again
        inputs = [torch.randn(3, 5, device=device) for _ in range(size)]
        for out in ranks.call(all_gather, inputs):
            assert torch.equal(out, torch.cat(inputs))


@pytest.mark.parametrize("dtype", [torch.half, torch.uint8, torch.int64])
@pytest.mark.parametrize("count", [1, 7, 16, 2000])
def test_any_bytes(count: int, dtype: torch.dtype, world, device: str) -> None:
    inputs = [torch.randint(0, 100, (count,), device=device).to(dtype) for _ in range(2)]
    for out in world(2).call(all_gather, inputs):
        assert torch.equal(out, torch.cat(inputs))


def test_more_than_one_stage(world, device: str) -> None:
    ranks = world(2, 1 << 21)
    for workspace in ranks.workspaces:
        workspace.table[4] = 2  # blocks, so that each has much to do
    inputs = [torch.randn(40_000, device=device) for _ in range(2)]
    for out in ranks.call(all_gather, inputs):
        assert torch.equal(out, torch.cat(inputs))


def test_ten_calls_of_grids_that_grow_and_shrink(world, device: str) -> None:
    """Blocks that a grid does not have find in the next one which half of the workspace is next."""
    ranks = world(3, 1 << 19)
    for turn in range(10):
        for workspace in ranks.workspaces:
            workspace.table[4] = (1, 16, 2, 64)[turn % 4]
        inputs = [torch.randn((9000, 1, 3001)[turn % 3], device=device) for _ in range(3)]
        for out in ranks.call(all_gather, inputs):
            assert torch.equal(out, torch.cat(inputs)), turn


def test_ranks_whose_tensors_are_aligned_otherwise(world, device: str) -> None:
    inputs = [torch.randn(65, device=device)[rank:][:64] for rank in range(2)]
    for out in world(2).call(all_gather, inputs):
        assert torch.equal(out, torch.cat(inputs))


def test_the_input_may_be_its_part_of_out(world, device: str) -> None:
    outs = [torch.full((2, 8), float(rank), device=device) for rank in range(2)]
    calls = [
        lambda out=out, w=w, r=r: all_gather(out[r : r + 1], out=out, workspace=w)
        for r, (out, w) in enumerate(zip(outs, world(2).workspaces, strict=True))
    ]
    for out in run_ranks(calls):
        assert out[:, 0].tolist() == [0, 1]


def test_nothing_to_gather(world, device: str) -> None:
    for out in world(2).call(all_gather, [torch.empty(0, 4, device=device)] * 2):
        assert out.shape == (0, 4)


def test_two_communicators_at_once(device: str) -> None:
    """Ranks of TP2 x 2: both pairs run at the same time, and one of them has no rank 0 of all."""
    pairs = [Group.local(2), Group.local(2)]
    workspaces = [Workspace(group, 4096, device=device) for pair in pairs for group in pair]
    inputs = [torch.full((4,), float(rank), device=device) for rank in range(4)]
    outs = run_ranks(
        [
            lambda x=x, w=w: all_gather(x, workspace=w)
            for x, w in zip(inputs, workspaces, strict=True)
        ]
    )
    assert [out[::4].tolist() for out in outs] == [[0, 1], [0, 1], [2, 3], [2, 3]]


def test_without_a_group_there_is_one_rank(device: str) -> None:
    x = torch.randn(6, device=device)
    assert torch.equal(all_gather(x), x)


def test_inputs_beyond_the_workspace_are_refused(world, device: str) -> None:
    with pytest.raises(ValueError, match=r"all_gather: 'workspace' has room for 1024 bytes.* 1600"):
        all_gather(torch.zeros(100, device=device), workspace=world(2, 1000).workspaces[0])


@pytest.mark.parametrize("shape", [(3, 4), (6, 5), (6,)])
def test_an_out_of_another_shape_is_refused(shape: tuple[int, ...], world, device: str) -> None:
    out, x = torch.zeros(shape, device=device), torch.zeros(3, 4, device=device)
    with pytest.raises(ValueError, match=r"all_gather: argument 'input' .*of 2 ranks"):
        world(2).call(all_gather, [x, x], out=out)


@on_gpus
def test_gpus_of_one_host(size: int, ranks, process_group, device: str) -> None:
    mine = torch.full((3, 1000), float(ranks.rank), device=device)
    for _ in range(3):
        out = all_gather(mine)
        assert out[::3, 0].tolist() == [*range(size)]


@pytest.mark.needs_gpu
def test_replays_of_a_graph_count_on(world) -> None:
    """Eager calls of another stream stand between the replays."""
    one = world(1).workspaces[0]
    x, eager = torch.zeros(64, device="cuda"), torch.cuda.Stream()
    all_gather(x, workspace=one)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = all_gather(x, workspace=one)
    for step in range(20):
        x.fill_(step)
        graph.replay()
        eager.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(eager):
            other = all_gather(x + 1, workspace=one)
        torch.cuda.current_stream().wait_stream(eager)
        assert out[0].item() == step
        assert other[0].item() == step + 1
