"""Choice among equal elements where only some of them fit."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["TopKTieBreak"]


class TopKTieBreak(IntEnum):
    """Choice among the elements that equal the smallest chosen one.

    NONE leaves it to the op, which takes those of the smallest indices.
    """

    NONE = 0
    SMALL = 1  # those of the smallest indices
    LARGE = 2  # those of the largest
