"""GPU memory that two processes share, by the driver's virtual memory functions."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from fictl.errors import SetupError

if TYPE_CHECKING:
    import torch

_DEVICE_LOCATION, _PINNED, _POSIX_HANDLE, _READ_WRITE = 1, 1, 1, 3
_RECOMMENDED = 1


class _Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


class _Allocation(ctypes.Structure):
    """CUmemAllocationProp of the driver."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("handles", ctypes.c_int),
        ("location", _Location),
        ("windows", ctypes.c_void_p),
        ("flags", ctypes.c_uint8 * 8),
    )


class _Access(ctypes.Structure):
    _fields_ = (("location", _Location), ("flags", ctypes.c_int))


class DeviceMemory:
    """Memory mapped into this process, and unmapped after the last reference to it."""

    device = "cuda"

    def __init__(self, handle: int, size: int) -> None:
        self._handle, self._size, self._place = handle, size, ctypes.c_uint64()
        _call(
            "cuMemAddressReserve",
            ctypes.byref(self._place),
            _size(size),
            _size(0),
            ctypes.c_uint64(0),
            ctypes.c_uint64(0),
        )
        zero = ctypes.c_uint64(0)
        _call("cuMemMap", self._place, _size(size), _size(0), ctypes.c_uint64(handle), zero)
        access = _Access(_Location(_DEVICE_LOCATION, _current()), _READ_WRITE)
        _call("cuMemSetAccess", self._place, _size(size), ctypes.byref(access), _size(1))

    def bytes_at(self, offset: int, size: int) -> torch.Tensor:
        import torch

        return torch.as_tensor(_Bytes(self, self._place.value + offset, size), device="cuda")

    def __del__(self) -> None:
        with suppress(Exception):
            _call("cuMemUnmap", self._place, _size(self._size))
            _call("cuMemAddressFree", self._place, _size(self._size))
            _call("cuMemRelease", ctypes.c_uint64(self._handle))


class _Bytes:
    """An array that keeps the memory alive as long as torch's tensor over it."""

    __slots__ = ("__cuda_array_interface__", "memory")

    def __init__(self, memory: DeviceMemory, place: int, size: int) -> None:
        self.memory = memory
        self.__cuda_array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (place, False),
            "version": 3,
        }


def create(size: int) -> tuple[DeviceMemory, int]:
    wanted = _Allocation(_PINNED, _POSIX_HANDLE, _Location(_DEVICE_LOCATION, _current()))
    whole = rounded(size)
    allocation, handle = ctypes.c_uint64(), ctypes.c_int(-1)
    _call(
        "cuMemCreate",
        ctypes.byref(allocation),
        _size(whole),
        ctypes.byref(wanted),
        ctypes.c_uint64(0),
    )
    _call(
        "cuMemExportToShareableHandle",
        ctypes.byref(handle),
        allocation,
        _POSIX_HANDLE,
        ctypes.c_uint64(0),
    )
    return DeviceMemory(allocation.value, whole), handle.value


def adopt(handle: int, size: int) -> DeviceMemory:
    allocation = ctypes.c_uint64()
    _call(
        "cuMemImportFromShareableHandle",
        ctypes.byref(allocation),
        ctypes.c_void_p(handle),
        _POSIX_HANDLE,
    )
    return DeviceMemory(allocation.value, rounded(size))


@cache
def _granularity() -> int:
    wanted = _Allocation(_PINNED, _POSIX_HANDLE, _Location(_DEVICE_LOCATION, _current()))
    size = ctypes.c_size_t()
    _call("cuMemGetAllocationGranularity", ctypes.byref(size), ctypes.byref(wanted), _RECOMMENDED)
    return size.value


def rounded(size: int) -> int:
    """Round up to the driver's allocation granularity."""
    return -(-size // _granularity()) * _granularity()


def _size(value: int) -> ctypes.c_size_t:
    return ctypes.c_size_t(value)


def _current() -> int:
    """Index of this process's device; torch makes its context the current one."""
    import torch

    cuda: Any = torch.cuda
    cuda.init()
    device: int = cuda.current_device()
    return device


@cache
def _driver() -> Any:
    return ctypes.CDLL("libcuda.so.1")


def _call(name: str, *arguments: Any) -> None:
    code = getattr(_driver(), name)(*arguments)
    if code:
        text = ctypes.c_char_p()
        _driver().cuGetErrorString(code, ctypes.byref(text))
        why = (text.value or b"").decode() or f"error {code}"
        raise SetupError(
            f"two processes cannot share memory of this GPU: {name}: {why}",
            "solutions are judged with inputs and outputs in memory that they share with the "
            "referee; in a container: all of /dev/nvidia* must be there",
        )
