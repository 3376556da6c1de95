"""ordered_sum over two ranks: gloo on the emulated device, nccl on two GPUs."""

from __future__ import annotations

import pytest
import ranked
import torch
import torch.distributed as dist


@pytest.mark.gpus(2)
@pytest.mark.parametrize("n", [1, 1000])
def test_the_sum_of_both(ranks, process_group, device: str, n: int) -> None:
    x = torch.arange(n, device=device, dtype=torch.float32) * (ranks.rank + 1)
    assert torch.equal(ranked.ops.ordered_sum(x), torch.arange(n, device=device) * 3.0)


@pytest.mark.gpus(2)
def test_the_same_bits_on_both(ranks, process_group, device: str) -> None:
    torch.manual_seed(ranks.rank)
    out = ranked.ops.ordered_sum(torch.randn(1 << 12).to(device))
    other = out.clone()
    dist.broadcast(other, src=0)
    assert torch.equal(out, other)


@pytest.mark.gpus(2)
def test_torchs_own_sum(ranks, process_group, device: str) -> None:
    x = torch.full((1 << 16,), float(ranks.rank + 1), device=device)
    out = ranked.ops.ordered_sum(x)
    dist.all_reduce(x)
    torch.testing.assert_close(out, x)


@pytest.mark.gpus(2)
@pytest.mark.needs_gpu
def test_the_group_is_nccls_and_each_rank_has_a_gpu(ranks, process_group) -> None:
    assert dist.get_backend() == "nccl"
    names = [None, None]
    dist.all_gather_object(
        names, str(torch.cuda.get_device_properties(torch.cuda.current_device()).uuid)
    )
    assert len({*names}) == 2
