"""Workspaces: memory of one size on every rank of a group, which the kernels of all ranks access."""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import torch

from fictl import settings
from fictl.comm.announced import announced, difference
from fictl.comm.exchange import RankMissing
from fictl.comm.group import MOST_RANKS, Group
from fictl.comm.late import Late
from fictl.comm.memory import RankMemory, memory_of
from fictl.comm.residency import blocks_of_each, gpu_of, ranks_of_a_gpu
from fictl.errors import FictlError, InvalidValue, SetupError, UsageError

# Mirrors kernels/include/fictl/comm/peers.cuh and kernels/binding/peers.h.
HEADER_BYTES = 16384
_MAGIC = 0x666963746C31
_BLOCKS = 4  # words of the table
_FIRST = 8
_TABLE_WORDS = _FIRST + MOST_RANKS
_ALIGNMENT = 256
MOST_BYTES = 1 << 40

_living: weakref.WeakSet[Workspace] = weakref.WeakSet()
# Memory of a parent process: never freed in a child.
_parents: list[RankMemory] = []


class Workspace:
    """Memory that the ranks of `group` share. All of them make it together, and destroy it together.

    One op call at a time uses it: calls of one stream, or ordered by events. Calls that may run at
    the same time need two workspaces, and begin in one order on all ranks: a kernel that waits for
    its peers may fill its GPU, so that the other has no room there.

    group: a Group, or what Group.of() takes.
    bytes: room for data on each rank.
    fill: the 32-bit word that data begin with.
    purpose: what it is for, such as an op and a dtype; other ops refuse it.
    device: None: the current GPU, or the CPU where FICTL_DEVICE=emu.
    """

    def __init__(
        self,
        group: Group | Any = None,
        bytes: int = 1 << 20,
        *,
        fill: int = 0,
        purpose: str = "",
        device: torch.device | str | None = None,
    ) -> None:
        if not 0 <= bytes <= MOST_BYTES:
            raise InvalidValue(f"a workspace of {bytes} bytes", f"0 to {MOST_BYTES}")
        self.group = Group.of(group)
        self.rank, self.size = self.group.rank, self.group.size
        self.bytes = -(-bytes // _ALIGNMENT) * _ALIGNMENT
        self.purpose, self.fill = purpose, fill
        self.device = device_of_kernels(device)
        self._memory: RankMemory | None = None
        self._table: torch.Tensor | None = None
        self._why_not = ""
        # Ranks of the GPU that has most of them, and what is left to each: known when the table is.
        self._ranks_of_a_gpu = self._most_blocks = 1
        self._late = _late(self.group, self.device)
        self._make()
        _watch_forks()
        _living.add(self)

    @property
    def table(self) -> torch.Tensor:
        """Return the argument `host_peers` of kernels: rank, size, and the address of each rank."""
        return self._connect() if self._table is None else self._table

    @property
    def memory(self) -> torch.Tensor:
        """Return the argument `workspace` of kernels: the bytes that they access."""
        return self._alive().seen

    @property
    def data(self) -> torch.Tensor:
        """Return this rank's bytes, behind the header."""
        return self._alive().own[HEADER_BYTES:]

    def addresses(self) -> list[int]:
        """Return where the data of each rank begin, as this one sees them; of ranks of one process,
        its own, and 0 for the others.
        """
        if not self.group.is_local:
            return [base + HEADER_BYTES for base in self.table[_FIRST:][: self.size].tolist()]
        own = self.data.data_ptr()
        return [own if rank == self.rank else 0 for rank in range(self.size)]

    def limit_blocks(self, most: int) -> None:
        """Let kernels that wait for peers have `most` blocks at most; the same on all ranks."""
        table = self.table  # First: with it the ranks agree on how many there may be.
        table[_BLOCKS] = min(most, self._most_blocks)

    def require(self, op: str, bytes: int, purpose: str = "") -> None:
        """Raise in words unless it has room for `bytes`, and is for this purpose."""
        if purpose != self.purpose:
            raise InvalidValue(
                f"{op}: 'workspace' is {_for(self.purpose)}, not {_for(purpose)}",
                "an op takes a workspace of its own kind",
            )
        if bytes > self.bytes:
            raise InvalidValue(
                f"{op}: 'workspace' has room for {self.bytes} bytes, the call needs {bytes}",
                "a smaller input, or a workspace with more room",
            )

    def destroy(self) -> None:
        """Free the memory when no rank uses it any more: waits for the kernels of all ranks.

        The ranks of one process do not wait: a rank's memory stays until all have destroyed theirs.
        """
        memory, self._memory, self._table = self._memory, None, None
        if memory is None:
            return
        self._why_not = "it was destroyed"
        self._finish_kernels()
        self.group.barrier()  # No kernel of any rank is left.
        memory.close()
        self.group.barrier()  # No rank has the memory of another open.
        memory.free()
        if self._late is not None:
            self._late.stop()

    def rebuild(self) -> None:
        """Make it anew, with what it began with: after destroy(), or a call that was cut short."""
        self.destroy()
        self._late = _late(self.group, self.device)
        self._make()

    def _make(self) -> None:
        self._memory = memory = memory_of(self.group, HEADER_BYTES + self.bytes, self.device)
        self._announcements = self.group.offer(
            announced(
                # In one process, plain pointers are of one GPU.
                device=str(self.device) if self.group.is_local else self.device.type,
                bytes=self.bytes,
                fill=self.fill,
                purpose=self.purpose,
                gpu=gpu_of(self.device),
                handle=memory.handle(),
            )
        )
        if self.group.is_local:
            self._clear()
        else:
            self._connect()

    def _connect(self) -> torch.Tensor:
        """Open the memory of all ranks; among those of one process, at the first use."""
        memory = self._alive()
        every: Sequence[dict[str, Any]] = ()
        try:
            every = self._announcements()
            addresses = self._agreed(memory, every)
        except FictlError as error:
            if self.group.is_local:
                raise
            self._memory, self._why_not = None, "it was not made on all ranks"
            memory.close()
            with suppress(RankMissing):
                if not isinstance(error, RankMissing):
                    self.group.barrier()  # No rank has the memory of another open.
            memory.free()
            raise
        memory.opened_by_all()
        self._ranks_of_a_gpu = ranks_of_a_gpu(every)
        self._most_blocks = blocks_of_each(every)
        self._table = self._filled(addresses)
        return self._table

    def _agreed(self, memory: RankMemory, every: Sequence[dict[str, Any]]) -> list[int]:
        """Return the address of each rank's memory. What is wrong on one rank is raised on all."""
        error, addresses = difference(every), []
        if not error:
            try:
                addresses = memory.open([one["handle"] for one in every], self.rank)
            except SetupError as raised:
                error = str(raised)
        if self.group.is_local:
            if error:
                raise UsageError(error)
        else:
            if not error:
                self._clear()
            self.group.agree(error)
        return addresses

    def _clear(self) -> None:
        words = self._alive().own.view(torch.int32)
        words[: HEADER_BYTES // 4] = 0
        words[HEADER_BYTES // 4 :] = self.fill - (1 << 32) * (self.fill >> 31)
        self._finish_kernels()

    def _finish_kernels(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def _filled(self, addresses: Sequence[int]) -> torch.Tensor:
        late = (0, 0) if self._late is None else (self._late.patience_ns, self._late.address)
        # Each rank a GPU of its own, which no other rank uses.
        have_gpus = int(self.device.type == "cuda" and self._ranks_of_a_gpu == 1)
        head = [_MAGIC, self.rank, self.size, self.bytes, self._most_blocks, *late, have_gpus]
        table = torch.zeros(_TABLE_WORDS, dtype=torch.int64)
        table[: len(head)] = torch.tensor(head)
        table[_FIRST : _FIRST + self.size] = torch.tensor(addresses)
        return table

    def _alive(self) -> RankMemory:
        if self._memory is None:
            raise UsageError(
                f"the workspace of {self.group} cannot be used: {self._why_not}",
                "rebuild() on every rank makes it anew",
            )
        return self._memory

    def forget(self) -> None:
        """Leave the memory to the parent process: a forked child cannot use it."""
        if self._memory is not None:
            _parents.append(self._memory)
            self._memory = self._table = None
            self._why_not = "this process was forked from the one that made it"


@cache
def _watch_forks() -> None:
    os.register_at_fork(after_in_child=_forget_all)


def _forget_all() -> None:
    for workspace in list(_living):
        workspace.forget()


def _late(group: Group, device: torch.device) -> Late | None:
    """Make what tells the host of long waits, in debug mode; the emulated device tells by itself."""
    seconds = settings.COMM_TIMEOUT.get()
    if not seconds or device.type != "cuda":
        return None
    late = Late(group, seconds)
    late.start()
    return late


def device_of_kernels(device: torch.device | str | None = None) -> torch.device:
    """Return the device given, or the one that kernels run on: the current GPU, or the emulated one."""
    chosen = torch.device(device or ("cpu" if settings.DEVICE.get() == "emu" else "cuda"))
    if str(chosen) == "cuda":  # without a number
        return torch.device("cuda", torch.cuda.current_device())
    return chosen


def _for(purpose: str) -> str:
    return f"for {purpose}" if purpose else "for any copy"
