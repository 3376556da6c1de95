"""Clocks of a GPU as a condition of a measurement: which of them count as the same."""

from __future__ import annotations

# An H200 that boosts to 1980 MHz also runs at 1965.
_NEAR = 0.03


def are_alike(one: float, other: float) -> bool:
    """Tell whether two clocks differ no more than a GPU's boost does by itself."""
    return abs(one / other - 1) <= _NEAR if one and other else True


def settled(clock: int, highest: int) -> int:
    """Return the clock; one near the GPU's highest counts as the highest."""
    return highest if clock >= (1 - _NEAR) * highest else clock
