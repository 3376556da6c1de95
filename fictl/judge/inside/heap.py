"""Heap settings of sandboxed processes: memory stays mapped after use, for later calls.

Mapping a page costs the kernel as much as computing its values.
"""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
_NEVER = -1


def keep_all() -> None:
    """Configure glibc never to return memory; with another libc, CPU times vary more."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_TRIM_THRESHOLD, _NEVER)
        mallopt(_MMAP_MAX, 0)


def touch(size: int) -> None:
    """Map `size` bytes for the next allocation."""
    import torch

    torch.empty(size, dtype=torch.uint8).zero_()
