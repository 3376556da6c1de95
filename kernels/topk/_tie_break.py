"""Which of equal elements are chosen where there is no room for all of them."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["TopKTieBreak"]


class TopKTieBreak(IntEnum):
    """Of the elements that equal the least one that is chosen.

    NONE leaves it to the op, which takes those of the smallest indices.
    """

    NONE = 0
    SMALL = 1  # those of the smallest indices
    LARGE = 2  # those of the largest
