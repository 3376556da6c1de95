"""Workspaces of all_reduce and its fusions: buffers for inputs up to a size, on all ranks."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import torch

from fictl.comm import Group, Workspace, shared_ranks, shared_workspace

from ._crossovers import (
    LAMPORT,
    LAMPORT_TWO_SHOT,
    NAMED,
    ONE_SHOT,
    TWO_SHOT,
    AllReduceStrategy,
    Crossovers,
    crossovers,
)

__all__ = ["AllReduceWorkspace"]

_PURPOSE = "all_reduce"
# What a buffer holds where there are no data, and what lies before the buffers: words.cuh and
# channel.cuh of kernels/include/fictl/comm.
_SENTINEL = 0x80000000
_ANNOUNCEMENTS = 2 * 8 * 256 * 4
_LAMPORT_BUFFERS, _FLAG_BUFFERS = 3, 2
# By how much a slot of a sum in two hops may exceed its share: one and a half rows of up to 32 KiB.
_SLACK = 48 << 10
_LEAST_SHARED = 8 << 20


class Sizes(NamedTuple):
    """Bytes of one buffer of each protocol."""

    lamport: int
    flags: int

    @property
    def total(self) -> int:
        return _ANNOUNCEMENTS + _LAMPORT_BUFFERS * self.lamport + _FLAG_BUFFERS * self.flags


def _sizes(ranks: int, most_bytes: int, limits: Crossovers) -> Sizes:
    few = min(most_bytes, limits.most_by_lamport)
    return Sizes(_received(ranks, few), _received(ranks, most_bytes))


def _received(ranks: int, nbytes: int) -> int:
    """Return what a rank receives of an input of `nbytes`, whichever way it takes."""
    two_hops = 2 * (-(-nbytes // ranks) + _SLACK)
    return (ranks - 1) * (max(nbytes, two_hops) + 16) // 16 * 16


class AllReduceWorkspace:
    """Buffers for all-reduces of inputs of up to `bytes`, of any dtype and shape.

    All ranks of `group` make it together, with the same arguments, and destroy it together. One call
    at a time uses it: calls of one stream, or ordered by events.

    group: of fictl.comm, torch.distributed or mpi4py. None: torch's default group.
    device: None: the current CUDA device, or the CPU where FICTL_DEVICE=emu.
    """

    def __init__(
        self,
        group: Group | Any = None,
        bytes: int = _LEAST_SHARED,
        *,
        device: torch.device | str | None = None,
    ) -> None:
        group = Group.of(group)
        self.bytes = bytes
        self.limits = _limits(group.size, group.is_local)
        self.sizes = _sizes(group.size, bytes, self.limits)
        self.shared = Workspace(
            group, self.sizes.total, fill=_SENTINEL, purpose=_PURPOSE, device=device
        )

    @property
    def rank(self) -> int:
        return self.shared.rank

    @property
    def size(self) -> int:
        return self.shared.size

    def destroy(self) -> None:
        """Free the memory when no rank uses it any more."""
        self.shared.destroy()

    def rebuild(self) -> None:
        """Make it anew: after destroy(), or a call that was cut short."""
        self.shared.rebuild()

    def addresses(self) -> list[list[int]]:
        """Return where the buffers with flags, the flags and Lamport's buffers begin, on each rank
        as this one sees it; of ranks of one process on itself alone.
        """
        lamport = _ANNOUNCEMENTS
        flags = lamport + _LAMPORT_BUFFERS * self.sizes.lamport
        starts = self.shared.addresses()
        return [[start + offset for start in starts] for offset in (flags, 0, lamport)]

    def empty(self, address: int, nbytes: int) -> bool:
        """Empty this rank's buffers of Lamport's protocol in `nbytes` from `address` on, if they
        are there.
        """
        begin = address - self.shared.data.data_ptr()
        first, size = _ANNOUNCEMENTS, _LAMPORT_BUFFERS * self.sizes.lamport
        if not first <= begin < first + size:
            return False
        end = min(begin + nbytes, first + size)
        words = self.shared.data[begin // 4 * 4 : end // 4 * 4].view(torch.int32)
        words.fill_(_SENTINEL - (1 << 32))
        return True

    def shots(self, nbytes: int, one_shot: bool | None) -> AllReduceStrategy | None:
        """Return the way in one hop or in two for an input of `nbytes`; None: the fastest."""
        if one_shot is None:
            return None
        if one_shot:
            return LAMPORT if nbytes <= self.limits.most_by_lamport else ONE_SHOT
        return LAMPORT_TWO_SHOT if nbytes <= self.limits.lamport_two_shot else TWO_SHOT

    def strategy(
        self,
        op: str,
        nbytes: int,
        strategy: str | AllReduceStrategy | None,
        *,
        with_norm: bool = False,
    ) -> Any:
        """Return the way that an input of `nbytes` takes; raise in words if there is no room."""
        if nbytes > self.bytes:
            raise ValueError(
                f"{op}: 'workspace' is for inputs of up to {self.bytes} bytes, this one has "
                f"{nbytes}; pass AllReduceWorkspace(group, {nbytes})"
            )
        if strategy is None:
            limits = _limits(self.size, self.shared.group.is_local, with_norm)
            return limits.chosen(nbytes)
        if isinstance(strategy, str):
            if strategy not in NAMED:
                raise ValueError(
                    f"{op}: argument 'strategy' is {strategy!r}; accepted: {', '.join(NAMED)}"
                )
            strategy = NAMED[strategy]
        if strategy.protocol == 0 and nbytes > self.limits.most_by_lamport:
            raise ValueError(
                f"{op}: argument 'strategy' is Lamport's protocol, which of {self.size} ranks has "
                f"buffers for inputs of up to {self.limits.most_by_lamport} bytes; this one has "
                f"{nbytes}"
            )
        return strategy


class _SharedAllReduceWorkspace(AllReduceWorkspace):
    """The buffers in a workspace that is shared by all calls without one."""

    def __init__(self, shared: Workspace, most_bytes: int) -> None:
        self.bytes, self.shared = most_bytes, shared
        self.limits = _limits(shared.size, shared.group.is_local)
        self.sizes = _sizes(shared.size, most_bytes, self.limits)


def default_workspace(nbytes: int, device: torch.device) -> AllReduceWorkspace:
    """Return the workspace of torch's default group, with room for inputs of `nbytes`.

    All ranks come here together when it is made, or has to grow.
    """
    known = _default.get(device)
    ranks = shared_ranks()
    most = max(_LEAST_SHARED, 1 << (nbytes - 1).bit_length() if nbytes else 0)
    if known is not None and known.size == ranks:
        most = max(most, known.bytes)
    total = _sizes(ranks, most, _limits(ranks, ranks == 1)).total
    shared = shared_workspace(total, device, purpose=_PURPOSE, fill=_SENTINEL)
    # Of one rank, which receives nothing, the same memory has room for more.
    if known is None or known.shared is not shared or known.bytes < most:
        known = _default[device] = _SharedAllReduceWorkspace(shared, most)
    return known


# The device's workspace of torch's default group.
_default: dict[torch.device, AllReduceWorkspace] = {}


@cache
def _limits(ranks: int, is_local: bool, with_norm: bool = False) -> Crossovers:
    return crossovers("one-gpu" if is_local else "nvlink", ranks, with_norm=with_norm)
