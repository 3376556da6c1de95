"""What Nsight Compute printed on an H200, and launches that are made up of a few metrics."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fictl.profile.ncu.launch import Launch

_PEAK = ".avg.pct_of_peak_sustained_elapsed"
_SHORT = {
    "memory": f"gpu__compute_memory_throughput{_PEAK}",
    "compute": f"sm__throughput{_PEAK}",
    "dram": f"gpu__dram_throughput{_PEAK}",
    "l2": f"lts__throughput{_PEAK}",
    "l1": f"l1tex__throughput{_PEAK}",
    "seconds": "gpu__time_duration.sum",
}


@pytest.fixture(scope="session")
def recorded() -> Callable[[str], str]:
    """The text of a recorded file."""
    return lambda name: (Path(__file__).parent / "recorded" / name).read_text(encoding="utf-8")


@pytest.fixture
def launch() -> Callable[..., Launch]:
    """launch(memory=80, dram=80, **{"launch__sm_count": 132})"""

    def make(grid: tuple[int, ...] = (132, 1, 1), **metrics: float) -> Launch:
        named = {_SHORT.get(name, name): value for name, value in metrics.items()}
        return Launch("0", "void a::Kernel<(int)8>(float*)", grid, (256, 1, 1), named)

    return make
