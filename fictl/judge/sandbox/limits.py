"""Resource limits of a process."""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path

_OPEN_FILES = 4096
_FIRST_TO_GO = "1000"


def limit(memory: int | None) -> None:
    """Limit core dumps, files and memory. `memory` is in bytes beyond the mapped size; None for a
    GPU, whose driver reserves far more addresses than there is memory.
    """
    # If memory runs short, the kernel kills this process before the judge.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO, encoding="ascii")
    _at_most(resource.RLIMIT_CORE, 0)
    _at_most(resource.RLIMIT_NOFILE, _OPEN_FILES)
    if memory is not None:
        _at_most(resource.RLIMIT_AS, _mapped() + memory)


def all_memory() -> int:
    """Memory of the machine in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _mapped() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _at_most(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    most = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (most, most))
