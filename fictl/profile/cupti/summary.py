"""CuptiSummary: a profile with one line for equal launches, sent between processes and printed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from fictl.profile.cupti.row import CopyRow, HostRow, KernelRow
from fictl.timing import statistics


@dataclass(frozen=True)
class CuptiSummary:
    """Summary of a profile, in seconds. spans: GPU time of each call, from the first start to the
    last end. idle: time of each call in which nothing ran; longest_gap: the longest such gap.
    overlap: time of a call in which several launches ran, of this call or the one before.
    """

    name: str
    device: str
    calls: int
    kernels: tuple[KernelRow, ...]
    copies: tuple[CopyRow, ...]
    host: tuple[HostRow, ...]
    spans: tuple[float, ...]
    idle: tuple[float, ...]
    longest_gap: float
    overlap: float = 0.0
    after: str = ""
    sm_mhz: int | None = None
    cold: bool | None = None
    trace: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.spans) if self.spans else 0.0

    def to_dict(self) -> dict[str, Any]:
        rows = {
            part: [row.to_dict() for row in getattr(self, part)]
            for part in ("kernels", "copies", "host")
        }
        return {**asdict(self), **rows, "median": self.median}
