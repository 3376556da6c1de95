"""The running softmax of softmax.cuh: of tiles, of single scores, and merged from several."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

ROWS = 5


def _run(
    blocks: Any, scores: torch.Tensor, values: torch.Tensor, parts: int
) -> tuple[torch.Tensor, torch.Tensor]:
    out, lse = (torch.empty(scores.shape[0], device=scores.device) for _ in range(2))
    blocks.softmax(out, lse, scores, values, parts)
    return out, lse


@pytest.mark.parametrize("parts", [1, 2, 5])
@pytest.mark.parametrize("scale", [1.0, 100.0, 1e30])
def test_it_is_the_softmax_of_all_scores(
    scale: float, parts: int, blocks: Any, device: str
) -> None:
    scores = scale * torch.randn(ROWS, 17, device=device)
    values = torch.randn(ROWS, 17, device=device)
    out, lse = _run(blocks, scores, values, parts)
    natural = scores.double() * math.log(2)
    expected = (natural.softmax(-1) * values).sum(-1)
    torch.testing.assert_close(out.double(), expected, rtol=1e-5, atol=1e-5)
    expected = natural.logsumexp(-1) / math.log(2)
    torch.testing.assert_close(lse.double(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_scores_of_minus_infinity_weigh_nothing(parts: int, blocks: Any, device: str) -> None:
    scores, values = (torch.randn(ROWS, 17, device=device) for _ in range(2))
    scores[:, ::2] = -math.inf
    kept = _run(blocks, scores[:, 1::2].contiguous(), values[:, 1::2].contiguous(), 1)
    for found, expected in zip(_run(blocks, scores, values, parts), kept, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("keys", [0, 1, 7])
@pytest.mark.parametrize("parts", [1, 3])
def test_of_nothing_the_average_is_0_and_the_sum_too(
    parts: int, keys: int, blocks: Any, device: str
) -> None:
    scores = torch.full((ROWS, keys), -math.inf, device=device)
    out, lse = _run(blocks, scores, torch.ones_like(scores), parts)
    assert out.tolist() == [0.0] * ROWS
    assert lse.tolist() == [-math.inf] * ROWS


def test_a_nan_is_not_lost(blocks: Any, device: str) -> None:
    scores = torch.randn(ROWS, 17, device=device)
    scores[:, 4] = math.nan
    out, lse = _run(blocks, scores, torch.ones_like(scores), 1)
    assert bool(out.isnan().all())
    assert bool(lse.isnan().all())
