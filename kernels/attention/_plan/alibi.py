"""Slopes of ALiBi, one for each head of queries."""

from __future__ import annotations

import math
from functools import lru_cache

import torch


@lru_cache(maxsize=64)
def alibi_slopes(heads: int, device: torch.device) -> torch.Tensor:
    """Compute powers of 2^(-8 / n), n the power of two below; heads beyond n get those between."""
    whole = 2 ** int(math.log2(heads))
    base, between = 2.0 ** (-8.0 / whole), 2.0 ** (-4.0 / whole)
    slopes = [base**power for power in range(1, whole + 1)]
    slopes += [between**power for power in range(1, 2 * (heads - whole) + 1, 2)]
    return torch.tensor(slopes, dtype=torch.float32, device=device)
