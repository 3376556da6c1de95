"""Time and memory of a module's last builds, to estimate the next one and choose its jobs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

from fictl import rooted
from fictl.paths import write_atomic
from fictl.sealed import seal, unseal

HISTORY = "history.json"


@dataclass(frozen=True)
class BuildHistory:
    """Seconds by object, and the peak memory of the largest compiler process."""

    seconds: dict[str, float] = field(default_factory=dict)
    peak_kib: int = 0

    @classmethod
    def read(cls, folder: Path) -> BuildHistory:
        try:
            data = unseal(rooted.read(folder / HISTORY))
            return cls(dict(data["seconds"]), int(data["peak_kib"]))
        except (OSError, ValueError, KeyError, TypeError):
            return cls()

    def with_build(self, seconds: dict[str, float], peak_kib: int) -> BuildHistory:
        return BuildHistory({**self.seconds, **seconds}, max(self.peak_kib, peak_kib))

    def write(self, folder: Path) -> None:
        write_atomic(folder / HISTORY, seal(asdict(self)))

    def estimate(self, objects: list[str], jobs: int) -> float:
        """Estimate the seconds to build these; 0 if one was never timed."""
        times = [self.seconds.get(name, 0.0) for name in objects]
        if not times or not all(times):
            return 0.0
        return max(*times, sum(times) / jobs) + self.seconds.get("module.so", 0.0)
