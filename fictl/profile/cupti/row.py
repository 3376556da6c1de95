"""The lines of a summary: equal launches, and their times."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from fictl.timing import statistics


@dataclass(frozen=True)
class Row:
    """Equal launches. launches: number in one call. seconds: of every launch in all calls. share:
    of the sum of all launches' times, which exceeds the calls' time if launches overlap.
    """

    name: str
    launches: float
    seconds: tuple[float, ...]
    share: float

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def to_dict(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "median": self.median,
            "min": min(self.seconds),
            "max": max(self.seconds),
        }


@dataclass(frozen=True)
class KernelRow(Row):
    """Row of a kernel. occupancy: the share of an SM's warps that the launch's resources allow;
    limits: the resources that limit it. waves: how many times the blocks fill the GPU. These are
    None if the GPU is not known.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    registers: int
    static_shared: int
    dynamic_shared: int
    occupancy: float | None = None
    limits: tuple[str, ...] = ()
    blocks_per_sm: int | None = None
    waves: float | None = None


@dataclass(frozen=True)
class CopyRow(Row):
    """Row of copies or fills; `bytes` is the size of one."""

    bytes: int

    @property
    def gbps(self) -> float:
        return self.bytes / self.median / 1e9 if self.median else 0.0

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "gbps": self.gbps}


@dataclass(frozen=True)
class HostRow(Row):
    """Calls of the CUDA runtime or driver. seconds: their sum in each call of the op. share: of the
    host's time in all such calls.
    """
