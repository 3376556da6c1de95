"""The toolkit's own CUB, block and warp primitives."""

from __future__ import annotations

import pytest
import torch

THREADS, ITEMS = 96, 4


@pytest.fixture(params=[False, True], ids=["fast", "checked"])
def library(emulate, device, schedule, request):
    library = emulate("surface_cub.cu", checked=request.param)
    device.run_under(schedule)
    yield library
    assert device.take_reports() == []


def integers(count: int) -> torch.Tensor:
    return torch.randint(0, 5, (count,), generator=torch.Generator().manual_seed(1)).int()


@pytest.mark.parametrize("how", [0, 1, 2], ids=["warps", "raking", "commutative"])
def test_a_block_reduces(library, address, how) -> None:
    x, total = torch.randn(THREADS, generator=torch.Generator().manual_seed(1)), torch.zeros(1)
    assert library.reduce(address(x), address(total), how) == 0
    torch.testing.assert_close(total[0], x.sum())


@pytest.mark.parametrize("how", [0, 1], ids=["warps", "raking"])
def test_a_block_scans(library, address, how) -> None:
    x = integers(THREADS)
    inclusive, exclusive = torch.zeros_like(x), torch.zeros_like(x)
    total = torch.zeros(1, dtype=torch.int32)
    assert library.scan(*map(address, (x, inclusive, exclusive, total)), how) == 0
    sums = x.cumsum(0, dtype=torch.int32)
    assert torch.equal(inclusive, sums)
    assert torch.equal(exclusive, sums - x)
    assert total.item() == sums[-1].item()


def test_a_block_loads_sorts_and_stores(library, address) -> None:
    count = THREADS * ITEMS
    keys = torch.randperm(count, generator=torch.Generator().manual_seed(1)).to(torch.int32)
    values = torch.arange(count, dtype=torch.int32)
    ordered, order = torch.zeros_like(keys), torch.zeros_like(values)
    assert library.sort(*map(address, (keys, values, ordered, order))) == 0
    assert torch.equal(ordered, keys.sort(descending=True).values)
    assert torch.equal(keys[order], ordered)


def test_warps_reduce_and_scan(library, address) -> None:
    x = torch.randn(THREADS, generator=torch.Generator().manual_seed(1))
    largest, sums = torch.zeros(THREADS // 32), torch.zeros(THREADS)
    assert library.warps(address(x), address(largest), address(sums)) == 0
    assert torch.equal(largest, x.view(-1, 32).amax(1))
    torch.testing.assert_close(sums.view(-1, 32), x.view(-1, 32).cumsum(1))


def test_neighbours_are_compared_and_items_exchanged(library, address) -> None:
    x = integers(THREADS * ITEMS)
    heads = torch.zeros(THREADS, dtype=torch.int32)
    exchanged = torch.zeros_like(x)
    assert library.neighbours(address(x), address(heads), address(exchanged)) == 0
    first = x[:THREADS]
    assert heads.tolist() == [1, *first[1:].ne(first[:-1]).int().tolist()]
    assert torch.equal(exchanged, x)
