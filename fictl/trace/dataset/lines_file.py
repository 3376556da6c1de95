"""Adding lines to a file that other processes add to as well."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from fictl.errors import SetupError


def append_lines(path: Path, lines: Iterable[str]) -> None:
    """Whole lines or none: one that a crash cut off is ended first, and spoils no other."""
    try:
        with _opened(path) as handle:
            size = os.fstat(handle).st_size
            if size and os.pread(handle, 1, size - 1) != b"\n":
                os.write(handle, b"\n")
            for line in lines:
                _append(handle, line.encode("utf-8"))
    except OSError as error:
        raise SetupError(f"{path} cannot be added to: {error.strerror}") from None


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        # A file system without locks has the single write of a line.
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        os.close(handle)


def _append(handle: int, data: bytes) -> None:
    """The system may take a part only: of a huge line, or where the disk is almost full."""
    size = os.fstat(handle).st_size
    try:
        while data:
            data = data[os.write(handle, data) :]
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(handle, size)
        raise
