"""They compute what they say: only what looks inside can tell."""

from __future__ import annotations

import pytest
import torch
from planted import ops


@pytest.mark.parametrize(
    "name",
    [
        "out_of_bounds",
        "shared_race",
        "unwritten",
        "lost_threads",
        "spilling",
        "local_array",
    ],
)
def test_it_copies(device: str, name: str) -> None:
    x = torch.rand(1000, device=device)
    assert torch.equal(getattr(ops, name)(x), x)
