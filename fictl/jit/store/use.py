"""Builds in use: a process holds a shared lock on each build it loaded, until it ends.

The OS frees the lock with the process, so a crash leaves no lock; readers never wait.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from fictl import settings
from fictl.errors import FictlError
from fictl.jit.store.entry import MANIFEST, Entry
from fictl.jit.store.lock import try_lock
from fictl.paths import cache_root

T = TypeVar("T")

_TRIES = 10

_held: dict[Path, int] = {}


class Removed(FictlError):
    """A build was cleared after it was found or published, before its lock was taken."""

    def __init__(self, build: Path) -> None:
        super().__init__(f"{build} was cleared from the cache meanwhile", "ask for it again")


def hold(build: Path) -> None:
    """Keep `build` from being cleared while this process lives."""
    if build in _held:
        return
    _held[build] = _shared(build)


def keep(entry: Entry) -> None:
    """Keep a build of the cache while this process lives; its mtime is its last use."""
    if entry.path.is_relative_to(cache_root()):
        hold(entry.path)
        with suppress(OSError):
            os.utime(entry.path)


def library(find: Callable[[], Entry]) -> Path:
    """Return the shared library that `find` finds, locked for a caller that loads it itself."""

    def once() -> Path:
        entry = find()
        keep(entry)
        return entry.module

    return unless_removed(once)


def unless_removed(action: Callable[[], T]) -> T:
    """Run `action`, which finds and locks a build; repeat it if the build is cleared in between."""
    for _ in range(_TRIES):
        with suppress(Removed):
            return action()
    raise FictlError(
        f"builds vanish from the cache while they are loaded, {_TRIES} times in turn",
        f"end what clears it, or set {settings.WORKSPACE_BASE.name} to a cache of your own",
    )


@contextmanager
def keeping(build: Path) -> Iterator[None]:
    """Keep `build` from being cleared while the context lasts, even if it is moved."""
    descriptor = _shared(build)
    try:
        yield
    finally:
        os.close(descriptor)


def in_use(build: Path) -> bool:
    """True if some process on this machine has it loaded."""
    with claimed(build) as ours:
        return not ours


@contextmanager
def claimed(build: Path) -> Iterator[bool]:
    """Keep other processes from loading the build; yield False if one has it loaded."""
    try:
        descriptor = os.open(build / MANIFEST, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        yield True  # Without a manifest it cannot be loaded.
        return
    try:
        yield try_lock(descriptor)
    finally:
        os.close(descriptor)


def _shared(build: Path) -> int:
    try:
        descriptor = os.open(build / MANIFEST, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise Removed(build) from None
    with suppress(OSError):  # A file system without locks cannot prevent clearing.
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    if not _is_at(descriptor, build / MANIFEST):
        os.close(descriptor)
        raise Removed(build)
    return descriptor


def _is_at(descriptor: int, path: Path) -> bool:
    """True if the open file is still the one at this path."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
