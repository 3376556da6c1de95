"""Memory of the ranks, each of which sees that of the others at an address of its own."""

from __future__ import annotations

import base64
import binascii
import mmap
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import torch

from fictl import settings
from fictl.comm import driver
from fictl.comm.group import Group
from fictl.emu.device import EmulatedDevice
from fictl.errors import SetupError

_SHARED = Path("/dev/shm")  # noqa: S108  # memory that processes share; files are made exclusively
_PREFIX = "fictl-comm-"
_GRANULE = 2 << 20  # bytes that the CUDA driver shares out


class RankMemory(Protocol):
    """Memory of one rank: `own`, bytes, there once it is open; `seen` is what kernels are told of."""

    own: torch.Tensor
    seen: torch.Tensor

    def handle(self) -> Any:
        """Return what the other ranks open it with: JSON, or an object in one process."""

    def open(self, handles: Sequence[Any], rank: int) -> list[int]:
        """Return the address of every rank's memory here."""

    def opened_by_all(self) -> None:
        """Do what has to wait until no rank opens it any more."""

    def close(self) -> None:
        """Unmap the memory of the others."""

    def free(self) -> None:
        """Free the own one, which no other rank uses any more."""


def memory_of(group: Group, size: int, device: torch.device) -> RankMemory:
    """Allocate the memory of one rank, of the kind that its group needs."""
    if group.is_local:
        return LocalMemory(size, device)
    if device.type == "cuda":
        return IpcMemory(size, device)
    return SharedMemory(size, group.rank, group.size)


class LocalMemory:
    """Ranks of one process: pointers are the same for all."""

    def __init__(self, size: int, device: torch.device) -> None:
        self.own = self.seen = torch.empty(size, dtype=torch.uint8, device=device)
        self._peers: list[torch.Tensor] = []

    def handle(self) -> torch.Tensor:
        return self.own

    def open(self, handles: Sequence[torch.Tensor], rank: int) -> list[int]:
        # Kept: the memory of a rank stays as long as a peer may read it.
        self._peers = list(handles)
        return [tensor.data_ptr() for tensor in handles]

    def opened_by_all(self) -> None: ...

    def close(self) -> None:
        self._peers = []

    def free(self) -> None:
        self.own = self.seen = self.own.new_empty(0)


class IpcMemory:
    """GPU memory of a process of its own, opened by CUDA IPC.

    Of whole granules: the driver cuts smaller allocations from a block that they share, and peers
    would map all of it.
    """

    def __init__(self, size: int, device: torch.device) -> None:
        self._device = device
        with _context_of(device):
            self._address = driver.allocate(-(-size // _GRANULE) * _GRANULE)
        self.own = self.seen = torch.as_tensor(_Span(self._address, size), device=device)
        self._opened: list[int] = []

    def handle(self) -> str:
        with _context_of(self._device):
            return base64.b64encode(driver.export_handle(self._address)).decode()

    def open(self, handles: Sequence[str], rank: int) -> list[int]:
        addresses = []
        with _context_of(self._device):
            for other, handle in enumerate(handles):
                if other == rank:
                    addresses.append(self._address)
                    continue
                self._opened.append(driver.open_handle(_decoded(handle)))
                addresses.append(self._opened[-1])
        return addresses

    def opened_by_all(self) -> None: ...

    def close(self) -> None:
        with _context_of(self._device):
            while self._opened:
                driver.close_handle(self._opened.pop())

    def free(self) -> None:
        self.own = self.seen = self.own.new_empty(0)
        with _context_of(self._device):
            driver.free(self._address)


@contextmanager
def _context_of(device: torch.device) -> Iterator[None]:
    """Make torch's context on the device the driver's current one, in any thread.

    The device alone is not enough: where it is current already, nothing binds a thread to it that
    has made no call of the CUDA runtime yet.
    """
    with torch.cuda.device(device):
        torch.cuda.current_stream(device).query()
        yield


class _Span:
    """GPU memory as torch takes it without a copy."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 3,
        }


class SharedMemory:
    """Emulated ranks in processes of their own: one file in memory, made by the first rank.

    Every rank maps all of it at once, so that check mode knows the memory of the peers.
    """

    def __init__(self, size: int, rank: int, ranks: int) -> None:
        self._size, self._whole = size, size * ranks
        self._name = _made(self._whole) if rank == 0 else ""
        self.own = self.seen = torch.empty(0, dtype=torch.uint8)

    def handle(self) -> str:
        return self._name

    def open(self, handles: Sequence[str], rank: int) -> list[int]:
        self.seen = _opened(handles[0], self._whole)
        EmulatedDevice.patience_ms = 1000 * settings.RANK_TIMEOUT.get()
        self.own = self.seen[rank * self._size :][: self._size]
        base = self.seen.data_ptr()
        return [base + other * self._size for other in range(len(handles))]

    def opened_by_all(self) -> None:
        """Remove the name: the memory ends with the last process that maps it."""
        if self._name:
            (_SHARED / self._name).unlink(missing_ok=True)

    def close(self) -> None:
        self.own = self.seen = self.own.new_empty(0)

    def free(self) -> None:
        self.opened_by_all()


def _made(size: int) -> str:
    name = f"{_PREFIX}{os.getpid()}-{secrets.token_hex(8)}"
    with _descriptor(name, os.O_CREAT | os.O_EXCL) as descriptor:
        os.ftruncate(descriptor, size)
    return name


def _opened(name: str, size: int) -> torch.Tensor:
    if not name.startswith(_PREFIX) or "/" in name:
        raise SetupError(f"{name!r} does not name memory that ranks share")
    with _descriptor(name, 0) as descriptor:
        there = os.fstat(descriptor).st_size
        if there != size:
            raise SetupError(f"{_SHARED / name} has {there} bytes, not {size}")
        return torch.frombuffer(mmap.mmap(descriptor, size), dtype=torch.uint8)


@contextmanager
def _descriptor(name: str, flags: int) -> Iterator[int]:
    path = _SHARED / name
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | flags, 0o600)
    except OSError as error:
        raise SetupError(
            f"{path}: {error.strerror}", "all ranks are of one host, and share its /dev/shm"
        ) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _decoded(handle: str) -> bytes:
    try:
        return base64.b64decode(handle, validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise SetupError("a rank gave a CUDA IPC handle that is none") from None
