"""A lock for builds: one process at a time builds a solution, and a dead holder blocks nobody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fictl import settings
from fictl.jit.store.lock import build_lock
from fictl.log import logger
from fictl.runnable.builder import cache_path
from fictl.runnable.package_folder import ensure_private

LOCKS = "build_locks"


@contextmanager
def alone(key: str) -> Iterator[None]:
    """Hold the lock on this machine; after FICTL_LOCK_TIMEOUT seconds, continue without it."""
    folder = cache_path() / LOCKS
    ensure_private(folder)
    wait = settings.LOCK_TIMEOUT.get()
    with build_lock(folder / f"{key}.lock", wait, lambda: False, logger().info):
        yield
