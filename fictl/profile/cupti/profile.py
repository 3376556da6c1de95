"""Profile: the work recorded between two points of a program."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fictl.profile.cupti.device import device
from fictl.profile.cupti.summarise import summarise
from fictl.profile.cupti.summary import CuptiSummary
from fictl.profile.cupti.table import text
from fictl.profile.cupti.work import ApiCall, Copy, Kernel, Work


@dataclass
class Profile:
    """Recorded work, complete once the recording has ended; printed, it is a table.

    `work` holds kernels and copies by start time, `api` the host's calls of CUDA.
    """

    name: str
    work: list[Work] = field(default_factory=list)
    api: list[ApiCall] = field(default_factory=list)

    @property
    def kernels(self) -> list[Kernel]:
        """Every launch, with name, grid, block, cluster, registers, shared, local, seconds, ..."""
        return [entry for entry in self.work if isinstance(entry, Kernel)]

    @property
    def copies(self) -> list[Copy]:
        """Copies and fills, with name, bytes, seconds, gbps."""
        return [entry for entry in self.work if isinstance(entry, Copy)]

    @property
    def total(self) -> float:
        """Seconds on the GPU from the start of the first work to the end of the last."""
        return sum(self.summary.spans)

    @property
    def summary(self) -> CuptiSummary:
        """Summary with one line for equal launches: their median, share and occupancy."""
        return summarise(self.name, self.work, self.api, device)

    def save_trace(self, path: str | Path) -> Path:
        """Write a timeline for ui.perfetto.dev or chrome://tracing."""
        from fictl.profile.cupti.timeline import save

        save(self.name, self.work, self.api, Path(path))
        return Path(path)

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.summary.to_dict(),
            "total": self.total,
            "launches": [{**asdict(entry), "seconds": entry.seconds} for entry in self.work],
        }

    def __str__(self) -> str:
        return text(self.summary)
