"""Time that a CUDA graph adds to a kernel, measured on a nearly empty kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fictl.timing.measure import measure
from fictl.timing.side import Side
from fictl.timing.stop import Stop

# Below this time, comparing kernels timed by different timers mostly compares the timers.
MATTERS_BELOW = 20e-6
_STOP = Stop(max_seconds=0.3)


@dataclass(frozen=True)
class Offset:
    """Seconds of the same kernel, measured by each of the two timers."""

    cupti: float
    graph: float

    @property
    def seconds(self) -> float:
        return self.graph - self.cupti


def graph_offset(device: str = "cuda") -> Offset:
    """Measure the offset. It needs CUPTI, which alone times the kernel without its surroundings."""
    import torch

    def make(index: int) -> Callable[[], object]:
        one = torch.zeros(1, device=device)
        return lambda: one.add_(1)

    def median(timer: str) -> float:
        sides = {"add_": Side(make, working_set=4)}
        return measure(sides, timer=timer, device=device, cold=False, stop=_STOP)["add_"].median

    return Offset(median("cupti"), median("graph"))
