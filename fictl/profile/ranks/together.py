"""The meeting of the ranks before each recorded call, which is of no call itself."""

from __future__ import annotations

import time
from collections.abc import Callable

from fictl.timing.lead import lead

_LEAST_LEAD_SECONDS = 1e-3


def together(device: str) -> Callable[[], object]:
    """Return what lets all ranks begin a call together, as `fictl bench --gpus` does."""
    if device != "cpu":
        return DeviceMeeting()
    import torch.distributed as dist

    return dist.barrier


class DeviceMeeting:
    """A sum over the ranks in the stream of the calls, which no rank has before all have come.

    A wait of the GPU goes before it, as long as the host took to enqueue the last call: else a
    slow host would look like a rank that starts late.
    """

    def __init__(self) -> None:
        import torch

        self._token = torch.zeros(1, device="cuda")
        self._left = time.perf_counter()

    def __call__(self) -> None:
        import torch.distributed as dist

        lead(max(_LEAST_LEAD_SECONDS, time.perf_counter() - self._left))
        dist.all_reduce(self._token)
        self._left = time.perf_counter()
