"""One implementation in a comparison of timings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Side:
    """One implementation to time.

    make: `make(i)` returns the call on copy i of its inputs and outputs.
    working_set: bytes that one call touches; it decides how many copies make the cache cold.
    """

    make: Callable[[int], Callable[[], object]]
    working_set: int
