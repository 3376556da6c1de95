"""The rank of this process, from the variables of any launcher.

torchrun and fictl set RANK, WORLD_SIZE and MASTER_ADDR; mpirun and srun use other names for the
first two, and on one machine the third is not needed.
"""

from __future__ import annotations

import os
import platform
import zlib
from dataclasses import dataclass
from typing import Any

from fictl import settings


@dataclass(frozen=True)
class Rank:
    """Rank of this process among `size`; `local`, its rank on this machine, chooses the GPU."""

    rank: int = 0
    size: int = 1
    local: int = 0

    @classmethod
    def here(cls) -> Rank:
        rank = int(settings.RANK.get() or 0)
        local = settings.LOCAL_RANK.get()
        return cls(rank, settings.WORLD_SIZE.get(), rank if local is None else local)

    @property
    def others(self) -> tuple[int, ...]:
        return tuple(other for other in range(self.size) if other != self.rank)


@dataclass(frozen=True)
class RankProcess:
    """The process of a rank: others on its machine see whether it still runs."""

    host: str
    pid: int
    began: str

    @classmethod
    def here(cls) -> RankProcess:
        from fictl.child.family import member

        own = member(os.getpid())
        return cls(_machine(), os.getpid(), own.began if own else "")

    @property
    def has_ended(self) -> bool:
        """True if it is known to have ended; of other machines nothing is known."""
        from fictl.child.family import member

        if self.host != _machine():
            return False
        now = member(self.pid)
        return now is None or (bool(self.began) and now.began != self.began)


def meeting_point(here: Rank, seconds: float) -> Any:
    """Return torch's key-value store that all ranks see."""
    from datetime import timedelta

    from torch.distributed.rendezvous import rendezvous

    patience = timedelta(seconds=seconds)
    store, _, _ = next(iter(rendezvous(_url(), here.rank, here.size, timeout=patience)))
    return store


def _url() -> str:
    if settings.MASTER_ADDR.get():
        return "env://"
    # The port comes from a value that only one job's processes share, so that jobs do not mix.
    job = settings.JOB.get() or str(os.getppid())
    return f"tcp://127.0.0.1:{20000 + zlib.crc32(job.encode()) % 10000}"


def _machine() -> str:
    """Name this machine, or container: processes of another cannot be seen by their pid."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return f"{platform.node()} {namespace}"
