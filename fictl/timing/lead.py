"""Keeping a GPU busy while the host enqueues what is to be timed behind it."""

from __future__ import annotations

from typing import Any

# Above the clock of any GPU: a slower one waits longer, never too short.
_CLOCK_HZ = 2.5e9
_RESERVE_SECONDS = 20e-6
_LONGEST_SECONDS = 0.02


def lead(seconds: float) -> None:
    """Let the GPU wait for the time that the host needs, and somewhat more.

    Without it the gaps in which the GPU waits for launches would be timed, too.
    """
    import torch

    cuda: Any = torch.cuda
    wait = min(1.5 * seconds + _RESERVE_SECONDS, _LONGEST_SECONDS)
    cuda._sleep(int(wait * _CLOCK_HZ))  # noqa: SLF001  # there is no public one
