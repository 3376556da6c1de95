"""Strides of operands, as copies of 16 bytes see them."""

from __future__ import annotations

from operator import index

import torch
from torch.compiler import is_dynamo_compiling

_BYTES = 16


def starts_aligned(x: torch.Tensor) -> bool:
    """Tell whether the first element is at a multiple of 16 bytes.

    While torch.compile traces there is no address: it counts as aligned, as are all tensors that
    torch allocates, and kernels refuse a tensor that is not.
    """
    return is_dynamo_compiling() or x.data_ptr() % _BYTES == 0


def bulk_addressable(x: torch.Tensor) -> bool:
    """Tell whether rows of a matrix are contiguous and start at multiples of 16 bytes."""
    rows, k = x.shape
    contiguous = k <= 1 or x.stride(1) == 1
    return contiguous and starts_aligned(x) and (rows <= 1 or _whole_chunks(x.stride(0), x))


def rows_are_contiguous(x: torch.Tensor) -> bool:
    """Tell whether an operand is column-major. Strides of dimensions of size 1 mean nothing."""
    rows, k = x.shape[-2:]
    return rows > 1 and x.stride(-2) == 1 and k > 1 and x.stride(-1) != 1


def meaningful_strides(x: torch.Tensor) -> tuple[int, int, int]:
    """Return the strides of the batch, the rows and k; 0 of a dimension of size 1."""
    batch = x.stride(0) if x.dim() == 3 and x.shape[0] > 1 else 0
    rows = x.stride(-2) if x.shape[-2] > 1 else 0
    return index(batch), index(rows), index(x.stride(-1)) if x.shape[-1] > 1 else 0


def _whole_chunks(stride: int, x: torch.Tensor) -> bool:
    return stride * x.element_size() % _BYTES == 0
