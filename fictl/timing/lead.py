"""Work that keeps a GPU busy while the host enqueues the calls to be timed."""

from __future__ import annotations

from typing import Any

# Above the clock of any GPU: a slower GPU waits longer, never too briefly.
_CLOCK_HZ = 2.5e9
_RESERVE_SECONDS = 20e-6
_LONGEST_SECONDS = 0.02


def lead(seconds: float) -> None:
    """Make the GPU wait a little longer than the host needs to enqueue the calls.

    Otherwise the gaps in which the GPU waits for launches would be timed as well.
    """
    import torch

    cuda: Any = torch.cuda
    wait = min(1.5 * seconds + _RESERVE_SECONDS, _LONGEST_SECONDS)
    cuda._sleep(int(wait * _CLOCK_HZ))  # noqa: SLF001  # there is no public one
