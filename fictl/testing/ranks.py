"""Tests of ops that several ranks call together, such as an all-reduce, in one process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from fictl import settings
from fictl.errors import SetupError

Result = TypeVar("Result")


def run_ranks(calls: Sequence[Callable[[], Result]]) -> list[Result]:
    """Run one call for each rank on the emulated device, as if all ran at the same time.

    The kernels of all calls run together when the last call has returned, so that they may wait for
    one another; those of one rank run in their order. The results are complete when this returns.
    A call must not read what its kernels write. Peers are plain pointers: every rank can access the
    tensors of the others.
    """
    if settings.DEVICE.get() != "emu":
        raise SetupError(
            "run_ranks() runs on the emulated device: on GPUs, each rank is a process of its own",
            "set FICTL_DEVICE=emu",
        )
    from fictl.jit.emulation import emulated_device
    from fictl.op.ffi.emulated import raise_defects

    device, results = emulated_device(), []
    with device.ranks() as ranks:
        for rank, call in enumerate(calls):
            ranks.next(rank)
            results.append(call())
    raise_defects("run_ranks", device)
    return results
