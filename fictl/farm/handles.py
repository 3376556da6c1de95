"""Open files of a process that has many places."""

from __future__ import annotations

import resource

# The pipes of a worker's stdin, stdout and stderr, and one more while it starts.
_EACH = 4
_OTHERS = 256


def allow_handles(places: int) -> None:
    """Raise this process's limit of open files, as far as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = _EACH * places + _OTHERS
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    limit = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
