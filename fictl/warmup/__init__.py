"""Warm-up: the modules that a process needed, recorded, and built before its next start."""

from typing import TYPE_CHECKING

from fictl.lazy import lazy

if TYPE_CHECKING:
    from fictl.warmup.building import WarmupProgress, WarmupReport, build
    from fictl.warmup.needs_file import NeededModule, read
    from fictl.warmup.recording import recording

__all__ = ["NeededModule", "WarmupProgress", "WarmupReport", "build", "read", "recording"]

__getattr__ = lazy(
    __name__,
    {
        "NeededModule": "needs_file",
        "WarmupProgress": "building",
        "WarmupReport": "building",
        "build": "building",
        "read": "needs_file",
        "recording": "recording",
    },
)
