"""Memory of the CUDA driver that other processes of this host can open."""

from __future__ import annotations

import ctypes
from functools import cache

from fictl.errors import SetupError

_LIBRARY = "libcuda.so.1"
_HANDLE_BYTES = 64
# Peer access is enabled where the memory is another GPU's.
_LAZY_ENABLE_PEER_ACCESS = 1


class _Handle(ctypes.Structure):
    _fields_ = (("reserved", ctypes.c_char * _HANDLE_BYTES),)


@cache
def _library() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError as error:
        raise SetupError(f"the CUDA driver cannot be loaded: {error}", "fictl doctor") from None
    address = ctypes.POINTER(ctypes.c_uint64)
    library.cuMemAlloc_v2.argtypes = [address, ctypes.c_size_t]
    library.cuMemFree_v2.argtypes = [ctypes.c_uint64]
    library.cuIpcGetMemHandle.argtypes = [ctypes.POINTER(_Handle), ctypes.c_uint64]
    library.cuIpcOpenMemHandle_v2.argtypes = [address, _Handle, ctypes.c_uint]
    library.cuIpcCloseMemHandle.argtypes = [ctypes.c_uint64]
    return library


def allocate(size: int) -> int:
    """Allocate memory on the current device, whose handle is of nothing else."""
    address = ctypes.c_uint64()
    _check(_library().cuMemAlloc_v2(ctypes.byref(address), size), f"{size} bytes of GPU memory")
    return address.value


def free(address: int) -> None:
    _check(_library().cuMemFree_v2(address), "freeing GPU memory")


def export_handle(address: int) -> bytes:
    """Return the handle with which other processes open the memory."""
    handle = _Handle()
    status = _library().cuIpcGetMemHandle(ctypes.byref(handle), address)
    _check(status, "a CUDA IPC handle")
    return ctypes.string_at(ctypes.byref(handle), _HANDLE_BYTES)


def open_handle(handle: bytes) -> int:
    """Map the memory of another process."""
    if len(handle) != _HANDLE_BYTES:
        raise SetupError(f"a CUDA IPC handle has {len(handle)} bytes, not {_HANDLE_BYTES}")
    own = _Handle()
    ctypes.memmove(ctypes.byref(own), handle, _HANDLE_BYTES)
    address = ctypes.c_uint64()
    status = _library().cuIpcOpenMemHandle_v2(ctypes.byref(address), own, _LAZY_ENABLE_PEER_ACCESS)
    _check(status, "opening a peer's memory by CUDA IPC")
    return address.value


def close_handle(address: int) -> None:
    _check(_library().cuIpcCloseMemHandle(address), "closing a peer's memory")


def _check(status: int, what: str) -> None:
    if status == 0:
        return
    name = ctypes.c_char_p()
    _library().cuGetErrorName(status, ctypes.byref(name))
    raise SetupError(
        f"{what}: {(name.value or b'CUDA error').decode()} ({status})",
        "fictl doctor --gpus tests IPC and peer access pair by pair",
    )
