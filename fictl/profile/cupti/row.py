"""The lines of a summary: launches that are alike, and what they took."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from fictl.timing import statistics


@dataclass(frozen=True)
class Row:
    """`launches` of one call; `seconds` of every launch of all calls; `share` is of the time that
    all launches take together, which is more than the calls' where they overlap.
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
    """`occupancy` is what an SM could hold of its warps by what the launch asks for, and `limits`
    why not more; `waves` fill the GPU one after the other. None where the GPU is not known.
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
    """Row of copies or fills; `bytes` of one."""

    bytes: int

    @property
    def gbps(self) -> float:
        return self.bytes / self.median / 1e9 if self.median else 0.0

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "gbps": self.gbps}


@dataclass(frozen=True)
class HostRow(Row):
    """Calls of the CUDA runtime or driver. `seconds` of all of them in each call of the op, and
    `share` of what the host spent in such calls.
    """
