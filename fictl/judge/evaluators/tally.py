"""Tally: counts of drawn tokens, compared with their expected counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

BINS = 64


@dataclass(frozen=True)
class TallyComparison:
    """`distance` is the total variation distance over `shares` bins of tokens."""

    distance: float
    largest: float
    largest_relative: float
    shares: int


def by_probability(share: torch.Tensor) -> torch.Tensor:
    """Bins of equal probability for the tokens of rows sorted by probability."""
    return ((share.cumsum(-1) - share) * BINS).long().clamp_(0, BINS - 1)


@dataclass
class Tally:
    """Counts by bin, over rows of any probabilities."""

    drawn: list[float] = field(default_factory=lambda: [0.0] * BINS)
    expected: list[float] = field(default_factory=lambda: [0.0] * BINS)
    samples: int = 0

    def add(self, rank: torch.Tensor, share: torch.Tensor, bins: torch.Tensor) -> None:
        """Add a sample for each row: the rank of its token; shares and bins of all tokens
        by rank.
        """
        import torch

        expected = torch.zeros(BINS, dtype=torch.float64, device=share.device)
        expected.scatter_add_(0, bins.flatten(), share.flatten())
        drawn = torch.bincount(bins.gather(-1, rank[:, None])[:, 0], minlength=BINS)
        self.expected = [a + b for a, b in zip(self.expected, expected.tolist(), strict=True)]
        self.drawn = [a + b for a, b in zip(self.drawn, drawn.tolist(), strict=True)]
        self.samples += share.shape[0]

    def compare(self, limit: float) -> TallyComparison | None:
        """Compare over as many bins as keep the noise of correct samples below half of `limit`.

        Returns None if there are too few samples for two bins.
        """
        most = min(BINS, int(math.pi / 2 * self.samples * limit**2))
        if most < 2:
            return None
        drawn, expected = _merged(self.drawn, most), _merged(self.expected, most)
        off = [abs(d - e) / self.samples for d, e in zip(drawn, expected, strict=True)]
        relative = [o * self.samples / e for o, e in zip(off, expected, strict=True) if e]
        return TallyComparison(0.5 * sum(off), max(off), max(relative, default=0.0), most)


def _merged(fine: list[float], count: int) -> list[float]:
    merged = [0.0] * count
    for position, value in enumerate(fine):
        merged[position * count // len(fine)] += value
    return merged
