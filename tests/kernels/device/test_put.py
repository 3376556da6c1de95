"""What put.cuh brings to the device: everything up to its end, and nothing behind it."""

from __future__ import annotations

from typing import Any

import pytest
import torch


@pytest.mark.parametrize("count", [0, 1, 255, 1000, 1001, 2999])
def test_numbers_arrive_up_to_the_last(count: int, blocks: Any, device: str) -> None:
    given = torch.arange(1, count + 1, dtype=torch.int32)
    out = torch.zeros(count + 7, dtype=torch.int32, device=device)
    put(blocks, out, given)
    assert torch.equal(out.cpu(), torch.nn.functional.pad(given, (0, 7)))


def test_the_host_may_go_on_with_its_memory(blocks: Any, device: str) -> None:
    given = torch.ones(3000, dtype=torch.int32)
    out = torch.empty(3000, dtype=torch.int32, device=device)
    put(blocks, out, given)
    given.zero_()
    assert bool((out == 1).all())


def put(blocks: Any, out: torch.Tensor, given: torch.Tensor) -> None:
    """A view: what variables of a test name is to be on the device."""
    blocks.put(out, given.view(-1))
