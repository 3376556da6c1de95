"""Boxes of tensors as the copy engine moves them, computed by numpy: what the emulated device must do."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace

import numpy as np

U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32_FTZ, TF32 = range(12)
DTYPES = {
    U8: np.uint8,
    U16: np.uint16,
    U32: np.uint32,
    S32: np.int32,
    U64: np.uint64,
    S64: np.int64,
    F16: np.float16,
    F32: np.float32,
    F64: np.float64,
    BF16: np.uint16,
    TF32: np.float32,
}
WIDTHS = (16, 32, 64, 128)  # of a row in each swizzle


class Map(ctypes.Structure):
    _fields_ = (("opaque", ctypes.c_uint64 * 16), ("room", ctypes.c_uint64 * 16))

    def at(self, alignment: int = 128, plus: int = 0) -> ctypes.c_void_p:
        """Return an address inside with that alignment."""
        return ctypes.c_void_p(-(-ctypes.addressof(self) // alignment) * alignment + plus)


@dataclass(frozen=True)
class Spec:
    """The arguments of cuTensorMapEncodeTiled. All lists are innermost first."""

    type: int
    sizes: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int = 0
    steps: tuple[int, ...] = (1, 1, 1, 1, 1)
    padding: int = 0  # bytes behind each row
    fill: int = 0

    @property
    def itemsize(self) -> int:
        return np.dtype(DTYPES[self.type]).itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in bytes, of all dimensions but the innermost."""
        row = -(-self.sizes[0] * self.itemsize // 16) * 16 + self.padding
        return tuple(row * int(np.prod(self.sizes[1:i])) for i in range(1, len(self.sizes)))

    @property
    def counts(self) -> tuple[int, ...]:
        """The elements that are copied in each dimension; the innermost has no step."""
        steps = (1, *self.steps[1:])
        return tuple(-(-b // s) for b, s in zip(self.box, steps, strict=False))

    @property
    def bytes(self) -> int:
        return int(np.prod(self.counts)) * self.itemsize

    def memory(self, seed: int = 0) -> np.ndarray:
        """Return memory for the tensor, aligned and with padding, of random bytes."""
        rows = int(np.prod(self.sizes[1:]))
        row = self.strides[0] if len(self.sizes) > 1 else self.sizes[0] * self.itemsize
        whole = np.zeros(rows * row + 256, np.uint8)
        first = -whole.ctypes.data % 128
        memory = whole[first : first + rows * row]
        memory[:] = np.random.default_rng(seed).integers(0, 120, memory.size)
        return memory

    def view(self, memory: np.ndarray) -> np.ndarray:
        """Return the tensor in its memory, outermost dimension first."""
        shape, strides = self.sizes[::-1], (*self.strides[::-1], self.itemsize)
        return np.lib.stride_tricks.as_strided(memory.view(DTYPES[self.type])[:1], shape, strides)

    def with_(self, **changes: object) -> Spec:
        return replace(self, **changes)  # type: ignore[arg-type]


def inside(spec: Spec, at: tuple[int, ...]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return where the part of a box that the tensor has lies: in the box, and in the tensor."""
    of_box, of_tensor = [], []
    for i in reversed(range(len(spec.sizes))):
        step = spec.steps[i] if i else 1
        first = max(0, -(at[i] // step))
        last = min(spec.counts[i], -(-(spec.sizes[i] - at[i]) // step))
        of_box.append(slice(first, max(first, last)))
        begin = at[i] + first * step
        of_tensor.append(slice(begin, max(begin, at[i] + last * step), step))
    return tuple(of_box), tuple(of_tensor)


def box_of(spec: Spec, memory: np.ndarray, at: tuple[int, ...]) -> np.ndarray:
    """Return the box, with zeros (or all bits set) where the tensor has nothing."""
    box = np.zeros(spec.counts[::-1], DTYPES[spec.type])
    if spec.fill:
        box.view(np.uint8)[:] = 0xFF
    of_box, of_tensor = inside(spec, at)
    if all(part.start < part.stop for part in of_box):
        box[of_box] = spec.view(memory)[of_tensor]
    return box


def swizzled(swizzle: int, offset: np.ndarray) -> np.ndarray:
    """Return where bytes of an unswizzled tile go in shared memory."""
    return offset ^ (((offset >> 7) & ((1 << swizzle) - 1)) << 4)


def in_shared(spec: Spec, box: np.ndarray, offset: int = 0) -> np.ndarray:
    """Return the bytes of shared memory, from `offset` on, that hold the box."""
    plain = np.ascontiguousarray(box).reshape(-1).view(np.uint8)
    placed = np.empty_like(plain)
    placed[swizzled(spec.swizzle, np.arange(plain.size) + offset) - offset] = plain
    return placed


def encode(library: ctypes.CDLL, map_: ctypes.c_void_p, spec: Spec, base: int, **given: int) -> int:
    """Call cuTensorMapEncodeTiled; `given` replaces single arguments."""
    rank = given.get("rank", len(spec.sizes))
    return library.encode(
        map_,
        given.get("type", spec.type),
        rank,
        ctypes.c_void_p(base),
        (ctypes.c_uint64 * len(spec.sizes))(*spec.sizes),
        (ctypes.c_uint64 * max(1, len(spec.strides)))(*spec.strides),
        (ctypes.c_uint32 * len(spec.box))(*spec.box),
        (ctypes.c_uint32 * len(spec.sizes))(*spec.steps[: len(spec.sizes)]),
        given.get("interleave", 0),
        spec.swizzle,
        spec.fill,
    )
