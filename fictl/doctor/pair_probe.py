"""The program that tests two GPUs: memory of the first, opened by CUDA IPC in a process of the second.

`python -m fictl.doctor.pair_probe FIRST SECOND` prints a JSON document. Without torch, which takes
longer to import than all of it.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

_LIBRARY = "libcuda.so.1"
_BYTES = 256 << 20
_COPIES = 8
_PATTERN = 0xA5
_HANDLE_BYTES = 64
_LAZY_ENABLE_PEER_ACCESS = 1


class _Handle(ctypes.Structure):
    _fields_ = (("reserved", ctypes.c_char * _HANDLE_BYTES),)


class _Failed(Exception):
    """A step that the driver refused."""


class _Driver:
    """The driver's functions, on one device."""

    def __init__(self, device: int) -> None:
        self._library = ctypes.CDLL(_LIBRARY)
        self.call("cuInit", 0)
        self.device = self.out(ctypes.c_int, "cuDeviceGet", device)
        context = self.out(ctypes.c_void_p, "cuDevicePrimaryCtxRetain", self.device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self._library.cuGetErrorName(status, ctypes.byref(text))
            raise _Failed(f"{name}: {(text.value or b'error').decode()}")

    def out(self, kind: Any, name: str, *arguments: Any) -> Any:
        value = kind()
        self.call(name, ctypes.byref(value), *arguments)
        return value

    def allocate(self) -> ctypes.c_uint64:
        address: ctypes.c_uint64 = self.out(
            ctypes.c_uint64, "cuMemAlloc_v2", ctypes.c_size_t(_BYTES)
        )
        return address

    def rate(self, to: ctypes.c_uint64, source: ctypes.c_uint64) -> float:
        """Copy some times, and return bytes a nanosecond."""
        start, end = (self.out(ctypes.c_void_p, "cuEventCreate", 0) for _ in range(2))
        for copies in (1, _COPIES):  # once to warm up
            self.call("cuEventRecord", start, None)
            for _ in range(copies):
                self.call("cuMemcpyDtoDAsync_v2", to, source, ctypes.c_size_t(_BYTES), None)
            self.call("cuEventRecord", end, None)
            self.call("cuEventSynchronize", end)
        milliseconds = self.out(ctypes.c_float, "cuEventElapsedTime", start, end)
        return float(_COPIES * _BYTES / max(milliseconds.value, 1e-6) / 1e6)


def examine(first: int, second: int) -> dict[str, Any]:
    """Fork before CUDA begins: the child has the memory of the first GPU."""
    handle_in, handle_out = os.pipe()
    end_in, end_out = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(end_out)
        _lend(first, handle_out, end_in)
    os.close(handle_out)
    try:
        return _borrow(first, second, handle_in)
    except _Failed as error:
        return {"problem": str(error)}
    finally:
        os.close(end_out)  # The memory of the child is not needed any more.
        os.waitpid(child, 0)


def _lend(device: int, handle_out: int, end_in: int) -> None:
    try:
        driver = _Driver(device)
        memory = driver.allocate()
        driver.call("cuMemsetD8_v2", memory, ctypes.c_ubyte(_PATTERN), ctypes.c_size_t(_BYTES))
        driver.call("cuCtxSynchronize")
        handle = driver.out(_Handle, "cuIpcGetMemHandle", memory)
        os.write(handle_out, ctypes.string_at(ctypes.byref(handle), _HANDLE_BYTES))
        os.read(end_in, 1)  # until the other process is through
        os._exit(0)
    except (_Failed, OSError) as error:
        os.write(handle_out, f"!{error}".encode()[:_HANDLE_BYTES])
        os._exit(1)


def _borrow(first: int, second: int, handle_in: int) -> dict[str, Any]:
    handle_bytes = os.read(handle_in, _HANDLE_BYTES)
    if len(handle_bytes) != _HANDLE_BYTES or handle_bytes.startswith(b"!"):
        problem = handle_bytes.decode(errors="replace").lstrip("!")
        raise _Failed(problem or "the other process ended")
    driver = _Driver(second)
    can = 1
    if first != second:
        lender = driver.out(ctypes.c_int, "cuDeviceGet", first)
        can = driver.out(ctypes.c_int, "cuDeviceCanAccessPeer", driver.device, lender).value
    result: dict[str, Any] = {"peer": bool(can)}
    handle = _Handle()
    ctypes.memmove(ctypes.byref(handle), handle_bytes, _HANDLE_BYTES)
    try:
        memory = driver.out(
            ctypes.c_uint64, "cuIpcOpenMemHandle_v2", handle, _LAZY_ENABLE_PEER_ACCESS
        )
    except _Failed as error:
        return {**result, "ipc": str(error)}
    own = driver.allocate()
    result["read"] = driver.rate(own, memory)
    result["wrong"] = _wrong_bytes(driver, own)
    result["write"] = driver.rate(memory, own)
    driver.call("cuIpcCloseMemHandle", memory)
    return {**result, "ipc": ""}


def _wrong_bytes(driver: _Driver, memory: ctypes.c_uint64) -> int:
    host = ctypes.create_string_buffer(1 << 20)
    driver.call("cuMemcpyDtoH_v2", host, memory, ctypes.c_size_t(len(host)))
    return len(host) - host.raw.count(bytes([_PATTERN]))


def main(words: Sequence[str]) -> int:
    os.write(1, f"{json.dumps(examine(int(words[0]), int(words[1])))}\n".encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
