"""Buffers that the ranks of a group share, named by their addresses: FlashInfer's functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from fictl.comm import Workspace

__all__ = ["create_shared_buffer", "free_shared_buffer"]

_PURPOSE = "shared buffer"
# Buffers by the address of a rank's part, and how many a rank of a group has made: equal on all.
_alive: dict[int, SharedBuffer] = {}
_count: Counter[tuple[str, int]] = Counter()


class SharedBuffer:
    """Memory of `nbytes` on each rank of a group."""

    def __init__(self, nbytes: int, group: Any) -> None:
        self.room = Workspace(group, nbytes, purpose=_PURPOSE)
        self.nbytes, self.pointers = nbytes, self.room.addresses()
        place = (self.group_name, self.room.rank)
        self.number = _count[place]
        _count[place] += 1
        # What else is to be freed with it, of all ranks together.
        self.on_free: list[Callable[[], None]] = []
        _alive[self.own] = self

    @property
    def own(self) -> int:
        """Return the address of this rank's part."""
        return self.pointers[self.room.rank]

    @property
    def group_name(self) -> str:
        return self.room.group.name

    @property
    def is_alive(self) -> bool:
        return _alive.get(self.own) is self

    def has(self, address: int, nbytes: int) -> bool:
        """Tell whether all of these bytes are this rank's part of it."""
        return self.own <= address and address + nbytes <= self.own + self.nbytes

    def free(self) -> None:
        del _alive[self.own]
        while self.on_free:
            self.on_free.pop()()
        self.room.destroy()


def create_shared_buffer(size_in_bytes: int, group: Any | None = None) -> list[int]:
    """Make memory of as many bytes on each rank, and return its addresses, as this rank sees them.

    All ranks come here together. The memory is zeroed. Among ranks of one process, the others'
    addresses are 0.

    group: of fictl.comm, torch.distributed or mpi4py. None: torch's default group.
    """
    if size_in_bytes < 1:
        raise ValueError(f"create_shared_buffer: size_in_bytes is {size_in_bytes}; pass 1 or more")
    return list(SharedBuffer(size_in_bytes, group).pointers)


def free_shared_buffer(pointers: list[int], group: Any | None = None) -> None:
    """Free a buffer, by the addresses that create_shared_buffer() returned.

    All ranks come here together, and wait until no kernel of any of them is left. With the buffer of
    a communicator go its workspaces.

    group: is not needed.
    """
    shared_buffer("free_shared_buffer", pointers).free()


def shared_buffer(op: str, pointers: Sequence[int]) -> SharedBuffer:
    """Return the living buffer with these addresses; raise in words if there is none."""
    buffer = next((_alive[address] for address in pointers if address in _alive), None)
    if buffer is None:
        raise ValueError(
            f"{op}: {_listed(pointers)} are not the addresses of a shared buffer: it was freed, or "
            "is not of fictl; pass what create_shared_buffer() returned"
        )
    if list(pointers) != buffer.pointers:
        raise ValueError(
            f"{op}: {_listed(pointers)} are not the addresses of one shared buffer, which has "
            f"{_listed(buffer.pointers)} on {buffer.room.group}"
        )
    return buffer


def _listed(pointers: Sequence[int]) -> str:
    return f"[{', '.join(map(hex, pointers))}]"
