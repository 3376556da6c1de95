"""The heap of judged processes: memory that was used once stays, for the reference and solutions alike.

A page that the kernel has to hand out first takes as long as computing what lies on it.
"""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
_NEVER = -1


def keep_all() -> None:
    """Only glibc is asked: elsewhere, times of the CPU are less even."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, _NEVER)
        mallopt(_MMAP_MAX, 0)


def touch(size: int) -> None:
    """So many bytes, to be found by who allocates next."""
    import torch

    torch.empty(size, dtype=torch.uint8).zero_()
