"""The time that a CUDA graph adds to a kernel, measured on one that does next to nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fictl.timing.measure import measure
from fictl.timing.side import Side
from fictl.timing.stop import Stop

# Below it a comparison of kernels timed by different timers is one of timers.
MATTERS_BELOW = 20e-6
_STOP = Stop(max_seconds=0.3)


@dataclass(frozen=True)
class Offset:
    """Seconds of the same kernel by both timers."""

    cupti: float
    graph: float

    @property
    def seconds(self) -> float:
        return self.graph - self.cupti


def graph_offset(device: str = "cuda") -> Offset:
    """Needs CUPTI: it alone times the kernel without what surrounds it."""
    import torch

    def make(index: int) -> Callable[[], object]:
        one = torch.zeros(1, device=device)
        return lambda: one.add_(1)

    def median(timer: str) -> float:
        sides = {"add_": Side(make, working_set=4)}
        return measure(sides, timer=timer, device=device, cold=False, stop=_STOP)["add_"].median

    return Offset(median("cupti"), median("graph"))
