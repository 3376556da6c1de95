"""CudaRTLibrary: functions of the CUDA runtime that this process has loaded, by their own names."""

from __future__ import annotations

import ctypes
import re
from functools import cache
from pathlib import Path
from typing import Any

from fictl.errors import SetupError

__all__ = ["CudaRTLibrary"]

_MAPS = Path("/proc/self/maps")
# Also as wheels rename it: libcudart-d0da41ae.so.11.0. A stub has no functions.
_FILE = re.compile(r"libcudart(-[0-9a-f]+)?\.so(\.\d+)*", re.IGNORECASE)
_HANDLE_BYTES = 64
_LAZY_ENABLE_PEER_ACCESS = 1
_ANY_DIRECTION = 4  # cudaMemcpyDefault


class _Handle(ctypes.Structure):
    """cudaIpcMemHandle_t: memory, for other processes of the host."""

    _fields_ = (("internal", ctypes.c_byte * _HANDLE_BYTES),)


_ADDRESS = ctypes.c_void_p
_ARGUMENTS: dict[str, list[Any]] = {
    "cudaSetDevice": [ctypes.c_int],
    "cudaDeviceSynchronize": [],
    "cudaDeviceReset": [],
    "cudaMalloc": [ctypes.POINTER(_ADDRESS), ctypes.c_size_t],
    "cudaFree": [_ADDRESS],
    "cudaMemset": [_ADDRESS, ctypes.c_int, ctypes.c_size_t],
    "cudaMemcpy": [_ADDRESS, _ADDRESS, ctypes.c_size_t, ctypes.c_int],
    "cudaIpcGetMemHandle": [ctypes.POINTER(_Handle), _ADDRESS],
    "cudaIpcOpenMemHandle": [ctypes.POINTER(_ADDRESS), _Handle, ctypes.c_uint],
    "cudaIpcCloseMemHandle": [_ADDRESS],
}


class CudaRTLibrary:
    """The CUDA runtime. An error of a function is raised as a RuntimeError, with the runtime's words.

    so_file: None: the one that this process has loaded, as torch's builds for CUDA do.
    """

    def __init__(self, so_file: str | None = None) -> None:
        self.lib = _library(so_file or _loaded())

    def CUDART_CHECK(self, result: int) -> None:  # noqa: N802
        """Raise unless `result` is 0, cudaSuccess."""
        if result:
            raise RuntimeError(f"CUDART error: {self.cudaGetErrorString(result)}")

    def cudaGetErrorString(self, error: int) -> str:  # noqa: N802
        return str(self.lib.cudaGetErrorString(error).decode("utf-8"))

    def cudaSetDevice(self, device: int) -> None:  # noqa: N802
        self.CUDART_CHECK(self.lib.cudaSetDevice(device))

    def cudaDeviceSynchronize(self) -> None:  # noqa: N802
        self.CUDART_CHECK(self.lib.cudaDeviceSynchronize())

    def cudaDeviceReset(self) -> None:  # noqa: N802
        self.CUDART_CHECK(self.lib.cudaDeviceReset())

    def cudaMalloc(self, size: int) -> ctypes.c_void_p:  # noqa: N802
        address = _ADDRESS()
        self.CUDART_CHECK(self.lib.cudaMalloc(ctypes.byref(address), size))
        return address

    def cudaFree(self, devPtr: ctypes.c_void_p) -> None:  # noqa: N802, N803
        self.CUDART_CHECK(self.lib.cudaFree(devPtr))

    def cudaMemset(self, devPtr: ctypes.c_void_p, value: int, count: int) -> None:  # noqa: N802, N803
        self.CUDART_CHECK(self.lib.cudaMemset(devPtr, value, count))

    def cudaMemcpy(  # noqa: N802
        self, dst: ctypes.c_void_p, src: ctypes.c_void_p, count: int
    ) -> None:
        self.CUDART_CHECK(self.lib.cudaMemcpy(dst, src, count, _ANY_DIRECTION))

    def cudaIpcGetMemHandle(self, devPtr: ctypes.c_void_p) -> _Handle:  # noqa: N802, N803
        handle = _Handle()
        self.CUDART_CHECK(self.lib.cudaIpcGetMemHandle(ctypes.byref(handle), devPtr))
        return handle

    def cudaIpcOpenMemHandle(self, handle: _Handle) -> ctypes.c_void_p:  # noqa: N802
        address = _ADDRESS()
        status = self.lib.cudaIpcOpenMemHandle(
            ctypes.byref(address), handle, _LAZY_ENABLE_PEER_ACCESS
        )
        self.CUDART_CHECK(status)
        return address

    def cudaIpcCloseMemHandle(self, devPtr: ctypes.c_void_p) -> None:  # noqa: N802, N803
        self.CUDART_CHECK(self.lib.cudaIpcCloseMemHandle(devPtr))


@cache
def _library(path: str) -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(path)
        for name, arguments in _ARGUMENTS.items():
            function = getattr(library, name)
            function.argtypes, function.restype = arguments, ctypes.c_int
        library.cudaGetErrorString.argtypes = [ctypes.c_int]
        library.cudaGetErrorString.restype = ctypes.c_char_p
    except (OSError, AttributeError) as error:
        raise SetupError(f"CudaRTLibrary: {path} is not a CUDA runtime: {error}") from None
    return library


def _loaded() -> str:
    """Return the file of the runtime that this process has mapped."""
    for line in _MAPS.read_text(encoding="utf-8").splitlines():
        _, slash, path = line.partition("/")
        if slash and _FILE.fullmatch(path.rpartition("/")[2]):
            return slash + path
    raise SetupError(
        "CudaRTLibrary: this process has not loaded libcudart",
        "import a torch that is built for CUDA first, or pass so_file",
    )
