"""Layouts of a tensor in memory that an op must support, or refuse with a message."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

# Widest access of a thread; rows that start at a multiple of it can be read in vectors.
_VECTOR_BYTES = 16


@dataclass(frozen=True)
class TensorPlacement:
    """Strides and offset of a tensor, in elements."""

    strides: tuple[int, ...]
    start: int = 0

    def span(self, shape: Sequence[int]) -> int:
        """Number of elements from the first to the last one, both included."""
        if 0 in shape:
            return 0
        return 1 + sum(stride * (n - 1) for n, stride in zip(shape, self.strides, strict=True))


class MemoryLayout(str, Enum):
    """A layout; its value is its word in a test's name."""

    CONTIGUOUS = "contiguous"
    STRIDED = "strided"  # padded rows, each aligned to a vector
    SKEWED = "skewed"  # rows padded by one element, so that most are not aligned
    OFFSET = "offset"  # contiguous, from an element that is not aligned
    TRANSPOSED = "transposed"  # columns are contiguous, not rows

    def place(self, shape: Sequence[int], itemsize: int) -> TensorPlacement:
        """Place a tensor of this shape; one dimension is strided like rows of one element."""
        if self is MemoryLayout.STRIDED:
            return TensorPlacement(_padded(shape, max(1, _VECTOR_BYTES // itemsize)))
        if self is MemoryLayout.SKEWED:
            return TensorPlacement(_padded(shape, 1))
        if self is MemoryLayout.OFFSET:
            return TensorPlacement(_dense(shape), start=1)
        if self is MemoryLayout.TRANSPOSED and len(shape) >= 2:
            *outer, column, row = _dense([*shape[:-2], shape[-1], shape[-2]])
            return TensorPlacement((*outer, row, column))
        return TensorPlacement(_dense(shape))

    def differs(self, ndim: int) -> bool:
        """True if it differs from the contiguous layout of so many dimensions."""
        least = {
            MemoryLayout.CONTIGUOUS: math.inf,
            MemoryLayout.OFFSET: 0,
            MemoryLayout.TRANSPOSED: 2,
        }
        return ndim >= least.get(self, 1)


def _dense(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(math.prod(max(n, 1) for n in shape[dim + 1 :]) for dim in range(len(shape)))


def _padded(shape: Sequence[int], unit: int) -> tuple[int, ...]:
    """Return strides of rows padded to whole units, with one padding row between groups of rows."""
    if len(shape) < 2:
        return _padded((*shape, 1), unit)[:-1] if shape else ()
    strides = [(shape[-1] // unit + 1) * unit, 1]
    for n in reversed(shape[1:-1]):
        strides.insert(0, strides[0] * (n + 1))
    return tuple(strides)
