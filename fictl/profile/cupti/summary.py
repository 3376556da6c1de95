"""What a profile says, in lines of launches that are alike: what crosses processes, and is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from fictl.profile.cupti.row import CopyRow, HostRow, KernelRow
from fictl.timing import statistics


@dataclass(frozen=True)
class Summary:
    """`spans` are the calls, from the first beginning to the last end on the GPU, in seconds;
    `idle` is the time of each in which nothing ran, `longest_gap` the longest piece of that, and
    `overlap` the time of a call in which several launches ran, of it or of the call before.
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

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Summary:
        rows: dict[str, Any] = {
            part: tuple(kind.from_dict(row) for row in data[part])
            for part, kind in (("kernels", KernelRow), ("copies", CopyRow), ("host", HostRow))
        }
        times = {part: tuple(data[part]) for part in ("spans", "idle")}
        known = {field.name: data[field.name] for field in fields(cls)}
        return cls(**{**known, **rows, **times})
