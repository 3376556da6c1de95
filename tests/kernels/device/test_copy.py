"""What copy.cuh brings to shared memory, and when."""

from __future__ import annotations

from typing import Any

import pytest
import torch

BYTES = 16


@pytest.mark.parametrize("valid", [[16], [0], [1, 4, 8, 15, 16, 0, 7, 12]])
def test_a_copy_reads_what_it_is_told_and_zeroes_the_rest(
    valid: list[int], blocks: Any, device: str
) -> None:
    given = torch.randint(1, 256, (32, BYTES), dtype=torch.uint8, device=device)
    counts = torch.tensor(valid * (32 // len(valid)), dtype=torch.int32, device=device)
    out = torch.empty_like(given)
    blocks.copy(out, given, counts)
    kept = torch.arange(BYTES, device=device) < counts[:, None]
    assert torch.equal(out, given * kept)
