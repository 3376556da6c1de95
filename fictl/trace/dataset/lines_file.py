"""Appends lines to a file that other processes append to as well."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from fictl.errors import SetupError

_BLOCK = 1 << 20


def append_lines(path: Path, lines: Iterable[str]) -> None:
    """Append whole lines; a line that a crash cut off is terminated first."""
    try:
        with _opened(path) as handle:
            size = os.fstat(handle).st_size
            if size and os.pread(handle, 1, size - 1) != b"\n":
                os.write(handle, b"\n")
            for line in lines:
                _append(handle, line.encode("utf-8"))
    except OSError as error:
        raise SetupError(f"{path} cannot be appended to: {error.strerror}") from None


def cut_unfinished(path: Path, aside: Path, is_broken: Callable[[bytes], bool]) -> bool:
    """Move an unfinished, broken last line to the file `aside`; False if there is none."""
    try:
        with _opened(path) as handle:
            size = os.fstat(handle).st_size
            start = _start_of_last_line(handle, size)
            tail = os.pread(handle, size - start, start)
            if not tail or not is_broken(tail):
                return False
            append_lines(aside, [tail.decode("utf-8", "replace")])
            os.ftruncate(handle, start)
            return True
    except OSError as error:
        raise SetupError(f"{path} cannot be mended: {error.strerror}") from None


def _start_of_last_line(handle: int, size: int) -> int:
    at = size
    while at > 0:
        begin = max(0, at - _BLOCK)
        position = os.pread(handle, at - begin, begin).rfind(b"\n")
        if position >= 0:
            return begin + position + 1
        at = begin
    return 0


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        # Without locks, each line is still a single write.
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle
    finally:
        os.close(handle)


def _append(handle: int, data: bytes) -> None:
    """Write all of a line, or none of it if the disk is full."""
    size = os.fstat(handle).st_size
    try:
        while data:
            data = data[os.write(handle, data) :]
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(handle, size)
        raise
