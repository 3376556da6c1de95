"""Ranks of a multi-GPU test: the rank of this process, and how ranks find each other.

torchrun sets RANK, WORLD_SIZE and MASTER_ADDR; mpirun and srun use other names for the first two,
and on one machine the third is not needed.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from fictl import settings
from fictl.testing.hooks.markers import gpus_of

# Timeout: enough for a first collective on eight GPUs; the others wait for a failed rank.
_PATIENCE = timedelta(seconds=60)


@dataclass(frozen=True)
class TestRank:
    """Rank of this process among `size`; `local`, its rank on this machine, chooses the GPU."""

    __test__ = False  # The name is right, and pytest must not collect it.

    rank: int = 0
    size: int = 1
    local: int = 0

    @classmethod
    def here(cls) -> TestRank:
        rank = int(settings.RANK.get() or 0)
        local = settings.LOCAL_RANK.get()
        return cls(rank, settings.WORLD_SIZE.get(), rank if local is None else local)


def missing(item: pytest.Item) -> str:
    """Reason why a test with @pytest.mark.gpus(n) cannot run in this process, or ''."""
    wanted = gpus_of(item)
    if not wanted:
        return ""
    here = TestRank.here()
    on_gpu = settings.DEVICE.get() == "cuda"
    if on_gpu and _visible() < (1 if here.size == wanted else wanted):
        return f"needs {wanted} GPUs, {_visible()} {'is' if _visible() == 1 else 'are'} visible"
    if here.size == wanted:
        return ""
    return f"needs {wanted} ranks, this is {here.rank} of {here.size}"


def _visible() -> int:
    from fictl.toolchain import visible_gpus

    return len(visible_gpus())


@pytest.fixture
def ranks() -> TestRank:
    """Rank of this process among those that run the test."""
    return TestRank.here()


@pytest.fixture(scope="session")
def _meeting_point() -> Any:
    """torch's key-value store that all ranks see."""
    from torch.distributed.rendezvous import rendezvous

    here = TestRank.here()
    store, _, _ = next(iter(rendezvous(_url(), here.rank, here.size, timeout=_PATIENCE)))
    return store


@pytest.fixture
def process_group(request: pytest.FixtureRequest, _meeting_point: Any) -> Iterator[Any]:
    """torch's default group of these ranks: nccl on GPUs, gloo emulated; a new one for each test."""
    import torch
    import torch.distributed as dist

    here, on_gpu = TestRank.here(), settings.DEVICE.get() == "cuda"
    if on_gpu:
        # Some launchers show each rank its own GPU alone.
        torch.cuda.set_device(here.local % _visible())
    store = dist.PrefixStore(request.node.nodeid, _meeting_point)  # type: ignore[attr-defined]
    dist.init_process_group(
        "nccl" if on_gpu else "gloo",
        store=store,
        rank=here.rank,
        world_size=here.size,
        timeout=_PATIENCE,
    )
    yield dist.group.WORLD
    _meet(store, here)
    dist.destroy_process_group()


def _meet(store: Any, here: TestRank) -> None:
    """Wait for all ranks, which must run the same test at the same time."""
    store.set(f"finished/{here.rank}", "")
    with suppress(RuntimeError):  # A rank that has ended has its own report.
        store.wait([f"finished/{rank}" for rank in range(here.size)], _PATIENCE)


def _url() -> str:
    if settings.MASTER_ADDR.get():
        return "env://"
    # The port comes from a value that only one job's processes share, so that jobs do not mix.
    job = settings.JOB.get() or str(os.getppid())
    return f"tcp://127.0.0.1:{20000 + zlib.crc32(job.encode()) % 10000}"
