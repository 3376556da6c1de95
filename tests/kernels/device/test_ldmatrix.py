"""Which bytes ldmatrix.cuh hands to which lane."""

from __future__ import annotations

from typing import Any

import pytest
import torch


@pytest.mark.parametrize("transposed", [False, True])
def test_a_lane_gets_two_neighbours_of_its_row_of_every_matrix(
    transposed: bool, blocks: Any, device: str
) -> None:
    matrices = torch.arange(4 * 8 * 8, dtype=torch.int16).view(4, 8, 8)
    out = torch.empty(32, 4, 2, dtype=torch.int16, device=device)
    blocks.matrices(out, matrices.to(device), transposed)
    if transposed:
        matrices = matrices.transpose(1, 2)
    expected = matrices.reshape(4, 32, 2).transpose(0, 1)  # lane = row * 4 + pair
    assert torch.equal(out.cpu(), expected)
