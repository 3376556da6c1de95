"""How a tensor may lie in memory: what an op has to take, or to refuse in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

# The widest access of a thread; a row that starts at a multiple of it can be read in vectors.
_VECTOR_BYTES = 16


@dataclass(frozen=True)
class Placement:
    """In elements: where the first one lies, and how far apart the others are."""

    strides: tuple[int, ...]
    start: int = 0

    def span(self, shape: Sequence[int]) -> int:
        """From the first element to the last one, both included."""
        if 0 in shape:
            return 0
        return 1 + sum(stride * (n - 1) for n, stride in zip(shape, self.strides, strict=True))


class Layout(str, Enum):
    """By the word that stands for it in the name of a test."""

    CONTIGUOUS = "contiguous"
    STRIDED = "strided"  # rows at a pitch, each aligned to a vector
    SKEWED = "skewed"  # rows at a pitch of one element more, so that most are not
    OFFSET = "offset"  # contiguous, from an element that is not aligned
    TRANSPOSED = "transposed"  # columns are contiguous, not rows

    def place(self, shape: Sequence[int], itemsize: int) -> Placement:
        """Numbers of one dimension lie at a pitch as rows of one element do."""
        if self is Layout.STRIDED:
            return Placement(_pitched(shape, max(1, _VECTOR_BYTES // itemsize)))
        if self is Layout.SKEWED:
            return Placement(_pitched(shape, 1))
        if self is Layout.OFFSET:
            return Placement(_dense(shape), start=1)
        if self is Layout.TRANSPOSED and len(shape) >= 2:
            *outer, column, row = _dense([*shape[:-2], shape[-1], shape[-2]])
            return Placement((*outer, row, column))
        return Placement(_dense(shape))

    def differs(self, ndim: int) -> bool:
        """From a contiguous tensor of so many dimensions."""
        least = {Layout.CONTIGUOUS: math.inf, Layout.OFFSET: 0, Layout.TRANSPOSED: 2}
        return ndim >= least.get(self, 1)


def _dense(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(math.prod(max(n, 1) for n in shape[dim + 1 :]) for dim in range(len(shape)))


def _pitched(shape: Sequence[int], unit: int) -> tuple[int, ...]:
    """A row and a gap are whole units; between two groups of rows one row is left out."""
    if len(shape) < 2:
        return _pitched((*shape, 1), unit)[:-1] if shape else ()
    pitches = [(shape[-1] // unit + 1) * unit, 1]
    for n in reversed(shape[1:-1]):
        pitches.insert(0, pitches[0] * (n + 1))
    return tuple(pitches)
