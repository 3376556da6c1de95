"""Host overhead: CPU time of a call, excluding GPU work."""

from __future__ import annotations

import time
from collections.abc import Callable

from fictl.timing.statistics import median

# Few enough that the launch queue never fills, so that no launch waits for the GPU.
_CALLS = 50
_ROUNDS = 15


def host_overhead(call: Callable[[], object], device: str = "cuda") -> float:
    """Measure the seconds until a call returns; nothing waits for the GPU while the clock runs."""
    settle = _synchronize if device.startswith("cuda") else lambda: None
    call()
    return median([_seconds(call, settle) for _ in range(_ROUNDS)])


def _seconds(call: Callable[[], object], settle: Callable[[], object]) -> float:
    settle()
    start = time.perf_counter()
    for _ in range(_CALLS):
        call()
    return (time.perf_counter() - start) / _CALLS


def _synchronize() -> None:
    import torch

    torch.cuda.synchronize()
