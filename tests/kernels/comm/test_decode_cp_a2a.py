"""Tests of decode_cp_a2a beside its trace: several ranks, parts, weights, and refusals."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
import torch

from fictl.comm import Group, Workspace
from fictl.kernels.comm._decode_cp_workspace import (
    decode_cp_a2a_allocate_mnnvl_workspace,
    decode_cp_a2a_init_workspace,
    decode_cp_a2a_lse_reduce_create_workspace,
    decode_cp_a2a_lse_reduce_workspace_size,
    decode_cp_a2a_workspace_size,
)
from fictl.kernels.comm.decode_cp_a2a.op import decode_cp_a2a_alltoall, decode_cp_a2a_lse_reduce
from fictl.testing import run_ranks

from .on_gpus import on_gpus


@pytest.fixture
def called(world, device: str):
    """Call on every rank: op(values, stats, its workspace, rank, size)."""

    def call(op, values, stats, bytes: int = 1 << 16, **options):
        workspaces = world(len(values), bytes).workspaces
        return run_ranks(
            [
                lambda v=v, s=s, w=w: op(v, s, w, w.rank, w.size, **options)
                for v, s, w in zip(values, stats, workspaces, strict=True)
            ]
        )

    return call


def _random(size: int, *shape: int, dtype=torch.half, device: str) -> list[torch.Tensor]:
    return [torch.randn(*shape, device=device).to(dtype) for _ in range(size)]


@pytest.mark.parametrize("size", range(1, 9))
def test_every_peer_gets_its_slice(size: int, called, device: str) -> None:
    values = _random(size, 2, 3, size, 16, device=device)
    stats = _random(size, 2, 3, size, 2, dtype=torch.float32, device=device)
    for rank, (out, out_stats) in enumerate(called(decode_cp_a2a_alltoall, values, stats)):
        for peer in range(size):
            assert torch.equal(out[..., peer, :], values[peer][..., rank, :])
            assert torch.equal(out_stats[..., peer, :], stats[peer][..., rank, :])


@pytest.mark.parametrize("mode", ["base2", "basee"])
@pytest.mark.parametrize("dtype", [torch.half, torch.bfloat16])
def test_slices_are_averaged(dtype: torch.dtype, mode: str, called, device: str) -> None:
    values = _random(3, 5, 2, 3, 24, dtype=dtype, device=device)
    lse = _random(3, 5, 2, 3, dtype=torch.float32, device=device)
    outs = called(decode_cp_a2a_lse_reduce, values, lse, lse_mode=mode)
    for rank, out in enumerate(outs):
        peers = torch.stack([x[..., rank, :] for x in values]).double()
        logs = torch.stack([x[..., rank] for x in lse]).double()
        weights = torch.softmax(logs * (math.log(2) if mode == "base2" else 1), 0)
        expected = (weights.unsqueeze(-1) * peers).sum(0)
        torch.testing.assert_close(out.double(), expected, rtol=1e-2, atol=2e-3)


@pytest.mark.parametrize("lse", [-math.inf, math.inf, math.nan])
def test_slices_without_keys(lse: float, called, device: str) -> None:
    """A row of one slice with keys, and one of none."""
    values = [torch.full((2, 2, 8), float(rank + 1), device=device).half() for rank in range(2)]
    values[1].fill_(math.nan)
    logs = [torch.tensor([[0.0, 0.0], [lse, lse]], device=device), torch.full((2, 2), lse)]
    logs[1] = logs[1].to(device)
    for out in called(decode_cp_a2a_lse_reduce, values, logs):
        assert out.tolist() == [[1.0] * 8, [0.0] * 8]


def test_a_call_larger_than_the_workspace_is_made_in_parts(called, device: str) -> None:
    values = _random(2, 40, 2, 64, device=device)
    stats = _random(2, 40, 2, 4, dtype=torch.float32, device=device)
    outs = called(decode_cp_a2a_alltoall, values, stats, bytes=4096)
    assert torch.equal(outs[1][0][:, 0], values[0][:, 1])
    assert torch.equal(outs[0][1][:, 1], stats[1][:, 0])


def test_strided_slices(called, device: str) -> None:
    """Heads outermost, as an engine views its attention."""
    whole = _random(2, 2, 6, 32, device=device)
    values = [x.transpose(0, 1) for x in whole]
    lse = _random(2, 2, 6, dtype=torch.float32, device=device)
    outs = called(decode_cp_a2a_lse_reduce, values, [x.transpose(0, 1) for x in lse])
    again = called(
        decode_cp_a2a_lse_reduce,
        [x.contiguous() for x in values],
        [x.transpose(0, 1).contiguous() for x in lse],
    )
    assert all(torch.equal(a, b) for a, b in zip(outs, again, strict=True))


def test_names_of_flashinfer(device: str) -> None:
    mapping = SimpleNamespace(cp_size=1, cp_rank=0, cp_group=[0])
    workspace = decode_cp_a2a_allocate_mnnvl_workspace(mapping)
    assert workspace.nbytes == decode_cp_a2a_workspace_size(1)
    decode_cp_a2a_init_workspace(workspace, 0, 1)
    values, stats = torch.randn(3, 1, 8, device=device).half(), torch.ones(3, 1, 2, device=device)
    out, out_stats = decode_cp_a2a_alltoall(values, stats, workspace, 0, 1)
    assert torch.equal(out, values)
    assert torch.equal(out_stats, stats)
    own = decode_cp_a2a_lse_reduce_create_workspace(3, 1, 1, 8, torch.half, None)
    assert own.nbytes >= decode_cp_a2a_lse_reduce_workspace_size(3, 1, 1, 8, torch.half)
    assert torch.equal(decode_cp_a2a_lse_reduce(values, stats[..., 0], own, 0, 1), values[:, 0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"partial_o": (3, 2, 8)}, r"'partial_o' has shape \(3, 2, 8\), which has no dimension"),
        ({"partial_o": (4, 1, 8)}, "the values have 4 rows, the statistics 3"),
        ({"partial_o": (3, 1, 6)}, "a last dimension of 6, which is not of a multiple of 16"),
        ({"softmax_stats": (3, 1, 3)}, "a last dimension of 3, which is not even"),
        ({"cp_rank": 1, "cp_size": 2}, "is of rank 0 of 1 .*the call is of rank 1 of 2"),
    ],
)
def test_what_is_refused(change: dict, message: str, world, device: str) -> None:
    shapes = {"partial_o": (3, 1, 8), "softmax_stats": (3, 1, 2)}
    given = {**shapes, **change}
    given["partial_o"] = torch.zeros(given["partial_o"], device=device).half()
    given["softmax_stats"] = torch.zeros(given["softmax_stats"], device=device)
    with pytest.raises(ValueError, match=message):
        decode_cp_a2a_alltoall(**given, workspace=world(1).workspaces[0])


def test_a_workspace_of_another_op(device: str) -> None:
    """Tokens of an exchange among experts lie there until they are combined."""
    other = Workspace(Group.local(1)[0], 1 << 16, purpose="moe_a2a", device=device)
    values = torch.zeros(3, 1, 8, device=device).half()
    with pytest.raises(ValueError, match="'workspace' is for moe_a2a, not for any copy"):
        decode_cp_a2a_lse_reduce(values, torch.zeros(3, 1, device=device), other)


def test_workspaces_that_are_none(world, device: str) -> None:
    x, stats = torch.zeros(3, 2, 8, device=device).half(), torch.zeros(3, 2, 2, device=device)
    with pytest.raises(TypeError, match="'workspace' is not memory that ranks share"):
        decode_cp_a2a_alltoall(x, stats, torch.zeros(1 << 16, device=device), 0, 2)
    with pytest.raises(ValueError, match=r"is of rank 1 of 2 .*the call is of rank 0 of 2"):
        decode_cp_a2a_alltoall(x, stats, world(2).workspaces[1], 0, 2)
    with pytest.raises(ValueError, match="lse_mode must be 'base2' or 'basee', not 'e'"):
        decode_cp_a2a_lse_reduce(x, stats[..., 0], None, 0, 2, "e")


@on_gpus
def test_gpus_of_one_host(size: int, ranks, process_group, device: str) -> None:
    """Results of decode_cp_a2a_allocate_mnnvl_workspace() for the ranks of a mapping."""
    mapping = SimpleNamespace(cp_size=size, cp_rank=ranks.rank, cp_group=[*range(size)])
    workspace = decode_cp_a2a_allocate_mnnvl_workspace(mapping)
    values = torch.full((3, size, 8), float(ranks.rank + 1), device=device).half()
    lse = torch.zeros(3, size, device=device)
    for _ in range(3):
        out = decode_cp_a2a_lse_reduce(values, lse, workspace, ranks.rank, size)
        assert out.unique().tolist() == [(size + 1) / 2]
