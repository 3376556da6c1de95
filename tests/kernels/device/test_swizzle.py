"""Where swizzle.cuh puts the chunks of a tile."""

from __future__ import annotations

from typing import Any

import pytest
import torch

CHUNKS = [1, 2, 4, 5, 8, 10, 12, 16, 20, 24, 32]


@pytest.mark.parametrize("chunks", CHUNKS)
def test_a_tile_has_every_chunk_once_and_in_its_row(chunks: int, blocks: Any, device: str) -> None:
    out = torch.empty(16, chunks, dtype=torch.int32, device=device)
    blocks.places(out, chunks)
    assert sorted(out.flatten().tolist()) == list(range(out.numel()))
    assert torch.equal(out.cpu() // chunks, torch.arange(16)[:, None].expand(16, chunks))


@pytest.mark.parametrize("chunks", CHUNKS)
def test_a_chunk_of_eight_rows_lies_in_eight_groups_of_banks(
    chunks: int, blocks: Any, device: str
) -> None:
    out = torch.empty(16, chunks, dtype=torch.int32, device=device)
    blocks.places(out, chunks)
    for rows in out[:8], out[8:]:
        groups = (rows % 8).sort(dim=0).values
        assert torch.equal(groups.cpu(), torch.arange(8)[:, None].expand(8, chunks).int())
