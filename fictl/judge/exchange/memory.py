"""Host memory that two processes share, created by the referee and lent for one turn."""

from __future__ import annotations

import fcntl
import mmap
import os
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import torch

# Seals: no process can shrink the memory, which would make a reader fault, or remove the seals.
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
_NAME = "fictl-exchange"


class SharedMemory(Protocol):
    """Memory mapped into this process; it stays mapped while a tensor uses it."""

    @property
    def device(self) -> str: ...

    def bytes_at(self, offset: int, size: int) -> torch.Tensor:
        """A tensor of bytes, over a storage of its own."""
        ...


class HostMemory:
    """A sealed memfd; the caller closes `handle`."""

    device = "cpu"

    def __init__(self, handle: int, size: int) -> None:
        # Map every page now, so that no call pays for the first access to its inputs.
        self._map = mmap.mmap(handle, size, mmap.MAP_SHARED | mmap.MAP_POPULATE)

    def bytes_at(self, offset: int, size: int) -> torch.Tensor:
        import torch

        return torch.frombuffer(self._map, dtype=torch.uint8, count=size, offset=offset)


def create(size: int, device: str) -> tuple[SharedMemory, int]:
    """Create memory, mapped here, and a handle to send to the other process and then to close."""
    if device == "cuda":
        from fictl.judge.exchange import device_memory

        return device_memory.create(size)
    handle = os.memfd_create(_NAME, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(handle, size)
    fcntl.fcntl(handle, fcntl.F_ADD_SEALS, _SEALS)
    return HostMemory(handle, size), handle


def adopt(handle: int, size: int, device: str) -> SharedMemory:
    """Map the memory of another process, and close its handle."""
    try:
        if device == "cuda":
            from fictl.judge.exchange import device_memory

            return device_memory.adopt(handle, size)
        return HostMemory(handle, size)
    finally:
        os.close(handle)
