"""A lock that only avoids duplicate work: waiting has a timeout, and a dead holder frees it."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fictl import private_folder
from fictl.jit.store.writing import writing
from fictl.paths import on_network

_POLL_SECONDS = 0.05
_FIRST_WORD_SECONDS = 1.0
_SAY_EVERY_SECONDS = 10.0


@contextmanager
def build_lock(
    path: Path, timeout: float, done: Callable[[], bool], say: Callable[[str], None]
) -> Iterator[None]:
    """Hold the lock, or continue without it: once `done()`, after `timeout`, or on a network mount.

    No build unlinks the file, so that two processes do not lock two files of one name; the
    kernel drops the flock when its holder dies.
    """
    if on_network(path):
        yield
        return
    with writing(path.parent):
        private_folder.make_within(path.parent)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        if _wait(descriptor, timeout, done, say):
            _sign(descriptor)
        yield
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """True if some process on this machine builds under this lock."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return not try_lock(descriptor)
    finally:
        os.close(descriptor)


def _wait(
    descriptor: int, timeout: float, done: Callable[[], bool], say: Callable[[str], None]
) -> bool:
    start = time.monotonic()
    next_word = start + _FIRST_WORD_SECONDS
    while not try_lock(descriptor):
        now = time.monotonic()
        if done():
            return False
        if now - start > timeout:
            say(f"waited {timeout:.0f} s for {_holder(descriptor)}; building without the lock")
            return False
        if now >= next_word:
            say(f"waiting for {_holder(descriptor)}")
            next_word = now + _SAY_EVERY_SECONDS
        time.sleep(_POLL_SECONDS)
    return True


def try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
            raise
        # A file system without locks: continue as if held, since it only avoids duplicate work.
    return True


def _sign(descriptor: int) -> None:
    text = json.dumps({"pid": os.getpid(), "host": platform.node(), "since": time.time()})
    with suppress(OSError):  # On a full disk the lock still holds.
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode(), 0)


def _holder(descriptor: int) -> str:
    try:
        who = json.loads(os.pread(descriptor, 4096, 0))
        age = max(0.0, time.time() - who["since"])
        return f"pid {who['pid']} on {who['host']}, which has been building for {age:.0f} s"
    except (ValueError, KeyError, TypeError, OSError):
        return "another process that builds the same module"
