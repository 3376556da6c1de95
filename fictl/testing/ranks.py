"""Tests of ops that several ranks call together, such as an all-reduce, in one process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from fictl import settings

Result = TypeVar("Result")


# How long the streams of a GPU wait before the first kernel, so that all have been launched by then:
# some calls of the CUDA runtime wait for kernels, which would wait for ones not launched yet.
_GATE_CYCLES = 100_000_000


def run_ranks(calls: Sequence[Callable[[], Result]]) -> list[Result]:
    """Run one call for each rank of this process, as if all ran at the same time.

    On the emulated device the kernels of all calls run together when the last call has returned; on
    a GPU each rank has a stream of its own, and grids must be small enough for all to be resident.
    Kernels may wait for one another; those of one rank run in their order. The results are complete
    when this returns. A call must not read what its kernels write. Peers are plain pointers: every
    rank can access the tensors of the others.
    """
    return _on_streams(calls) if settings.DEVICE.get() == "cuda" else _emulated(calls)


def _emulated(calls: Sequence[Callable[[], Result]]) -> list[Result]:
    from fictl.jit.emulation import emulated_device
    from fictl.op.ffi.emulated import raise_defects

    device, results = emulated_device(), []
    with device.ranks() as ranks:
        for rank, call in enumerate(calls):
            ranks.next(rank)
            results.append(call())
    raise_defects("run_ranks", device)
    return results


def _on_streams(calls: Sequence[Callable[[], Result]]) -> list[Result]:
    import torch

    cuda: Any = torch.cuda
    current, results = cuda.current_stream(), []
    cuda._sleep(_GATE_CYCLES)  # noqa: SLF001  # torch has no public one
    streams = [_stream_of(rank) for rank in range(len(calls))]
    for stream in streams:
        stream.wait_stream(current)
    for stream, call in zip(streams, calls, strict=True):
        with cuda.stream(stream):
            results.append(call())
    for stream in streams:
        current.wait_stream(stream)
    cuda.synchronize()
    return results


@cache
def _stream_of(rank: int) -> Any:
    """Return the stream of a rank: the caching allocator keeps memory for each stream."""
    import torch

    cuda: Any = torch.cuda
    return cuda.Stream()
