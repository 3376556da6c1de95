"""Tests of reduce_scatter beside its trace: several ranks, the order of the sum, refusals."""

from __future__ import annotations

import pytest
import torch

from fictl.kernels.comm.all_gather.op import all_gather
from fictl.kernels.comm.reduce_scatter.op import reduce_scatter

from .on_gpus import on_gpus

DTYPES = (torch.half, torch.bfloat16, torch.float32)


def _sum(inputs: list[torch.Tensor]) -> torch.Tensor:
    """Add in the order of ranks in fp32, and round once."""
    total = inputs[0].float()
    for x in inputs[1:]:
        total = total + x.float()
    return total.to(inputs[0].dtype)


@pytest.mark.parametrize("size", range(1, 9))
def test_any_number_of_ranks_bit_by_bit(size: int, world, device: str) -> None:
    ranks = world(size)
    for count in (3, 8, 3):
        inputs = [torch.randn(size * count, device=device) for _ in range(size)]
        outs = ranks.call(reduce_scatter, inputs)
        assert torch.equal(torch.cat(outs), _sum(inputs))


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_dtype(dtype: torch.dtype, world, device: str) -> None:
    inputs = [torch.randn(6, 520, device=device).to(dtype) for _ in range(3)]
    outs = world(3).call(reduce_scatter, inputs)
    assert torch.equal(torch.cat(outs), _sum(inputs))


def test_more_than_one_stage_and_tensors_aligned_otherwise(world, device: str) -> None:
    ranks = world(2, 1 << 20)
    for workspace in ranks.workspaces:
        workspace.table[4] = 2  # blocks, so that each has much to do
    inputs = [torch.randn(40_001, device=device)[rank:][:40_000] for rank in range(2)]
    assert torch.equal(torch.cat(ranks.call(reduce_scatter, inputs)), _sum(inputs))


def test_minus_zero_stays(world, device: str) -> None:
    outs = world(2).call(reduce_scatter, [torch.full((4,), -0.0, device=device)] * 2)
    assert torch.cat(outs).signbit().all()


def test_it_shares_a_workspace_with_all_gather(world, device: str) -> None:
    """Together they are an all-reduce."""
    ranks = world(3)
    inputs = [torch.randn(3 * 7, device=device) for _ in range(3)]
    for _ in range(2):
        outs = ranks.call(all_gather, ranks.call(reduce_scatter, inputs))
        assert all(torch.equal(out, _sum(inputs)) for out in outs)


@pytest.mark.parametrize(("rows", "parts"), [(5, 2), (6, 2), (7, 3)])
def test_rows_that_are_no_multiple_are_refused(rows: int, parts: int, world, device: str) -> None:
    x = [torch.zeros(rows, 4, device=device)] * 2
    out = torch.zeros(parts, 4, device=device)
    with pytest.raises(ValueError, match=r"reduce_scatter: argument 'out' .*of 2 ranks"):
        world(2).call(reduce_scatter, x, out=out)


def test_an_integer_input_is_refused(world, device: str) -> None:
    with pytest.raises(TypeError, match="int32; accepted: float16, bfloat16, float32"):
        world(2).call(reduce_scatter, [torch.zeros(4, dtype=torch.int32, device=device)] * 2)


@on_gpus
def test_gpus_of_one_host(size: int, ranks, process_group, device: str) -> None:
    mine = torch.arange(2000, device=device, dtype=torch.float32) * (ranks.rank + 1)
    for _ in range(3):
        expected = torch.arange(2000, device=device) * float(sum(range(size + 1)))
        assert torch.equal(reduce_scatter(mine), expected.chunk(size)[ranks.rank])
