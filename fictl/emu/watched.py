"""Tensors as check mode sees them."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass


@dataclass(frozen=True)
class Watched:
    """A tensor as check mode sees it: address, name, layout, and whether kernels may write it."""

    name: str
    address: int
    itemsize: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    writable: bool


class TensorRow(ctypes.Structure):
    """Mirrors the struct of runtime/tensors.h: same fields, same order."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("itemsize", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("writable", ctypes.c_int32),
    )


def row_of(tensor: Watched) -> TensorRow:
    """Return the runtime's row for a tensor."""
    dims = ctypes.c_int64 * len(tensor.shape)
    return TensorRow(
        tensor.address,
        tensor.name.encode(),
        tensor.itemsize,
        len(tensor.shape),
        dims(*tensor.shape),
        dims(*tensor.strides),
        tensor.writable,
    )
