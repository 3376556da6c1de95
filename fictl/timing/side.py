"""One of the things that are timed against each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Side:
    """`make(i)` gives the call over the i-th copy of its inputs and outputs.

    `working_set` is what one call touches, in bytes: it decides how many copies make a cold cache.
    """

    make: Callable[[int], Callable[[], object]]
    working_set: int
