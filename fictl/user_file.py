"""Files that a user names or owns, read and written only if they are regular files.

A FIFO would wait for its other end, and a device may never end. Both are refused with an OSError,
which callers handle anyway.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import BinaryIO

from fictl.errors import FictlError, UsageError, of_os, shown

LARGEST = 256 << 20
_LONGEST_NAME = 255
_OF_THE_KERNEL = ("/proc/", "/sys/")

_KINDS = (
    (stat.S_ISDIR, errno.EISDIR, "Is a directory"),
    (stat.S_ISFIFO, errno.EINVAL, "is a FIFO, not a regular file"),
    (stat.S_ISSOCK, errno.EINVAL, "is a socket, not a regular file"),
    (stat.S_ISCHR, errno.EINVAL, "is a device, not a regular file"),
    (stat.S_ISBLK, errno.EINVAL, "is a device, not a regular file"),
)


def read_text(
    path: Path, encoding: str = "utf-8", errors: str = "strict", largest: int = LARGEST
) -> str:
    """Read the text of a regular file, with Python's universal newlines."""
    return TextIOWrapper(BytesIO(read_bytes(path, largest)), encoding, errors).read()


def read_bytes(path: Path, largest: int = LARGEST) -> bytes:
    """Read the bytes of a regular file."""
    with open_regular(path) as file:
        info = os.fstat(file.fileno())
        if info.st_size > largest:
            text = f"has {info.st_size} bytes, and {largest} is the most that is read"
            raise OSError(errno.EFBIG, text, str(path))
        return file.read(largest)


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading in parts."""
    require_regular(path)
    file = open(path, "rb", opener=_without_waiting)  # noqa: SIM115  (the caller's)
    try:
        _refuse_other(path, os.fstat(file.fileno()).st_mode)
    except OSError:
        file.close()
        raise
    return file


def _without_waiting(path: str, flags: int) -> int:
    """Open without blocking: the file may have become a FIFO since it was checked."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)


def require_regular(path: Path) -> os.stat_result:
    """Raise the OSError that says why `path` cannot be read as a file."""
    info = os.stat(path)
    _refuse_other(path, info.st_mode)
    return info


def require_writable(option: str, path: Path, *, makes_folders: bool = False) -> None:
    """Refuse, before any work, a path where `option` could not be written; change nothing."""
    try:
        if makes_folders and not os.path.exists(path.parent):
            _require_folder(path.parent)
        else:
            _try_to_write(path)
    except OSError as error:
        raise _cannot_be_written(option, path, error) from None


def require_folder(option: str, path: Path) -> None:
    """Refuse, before any work, a path that is not a folder and cannot become one."""
    try:
        _require_folder(path)
    except OSError as error:
        raise _cannot_be_written(option, path, error) from None


def write_text(option: str, path: Path, text: str) -> None:
    """Write the file of `option` and create its folders; refuse anything but a regular file."""
    require_writable(option, path, makes_folders=True)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise _cannot_be_written(option, path, error) from None


def _cannot_be_written(option: str, path: Path, error: OSError) -> FictlError:
    kind = type(of_os(error) or UsageError(""))
    text = f"{option} {shown(str(path))} cannot be written: {error.strerror}"
    return kind(text, "name a place in a folder of yours")


def _refuse_other(path: Path, mode: int) -> None:
    for is_kind, number, kind_name in _KINDS:
        if is_kind(mode):
            raise OSError(number, kind_name, str(path))


def _require_folder(path: Path) -> None:
    """Check that every existing part of the path to the file is a folder."""
    if os.path.realpath(path).startswith(_OF_THE_KERNEL):
        raise OSError(errno.EINVAL, "is the kernel's, not a folder of files", str(path))
    there = path.absolute()
    while not os.path.lexists(there):
        if len(os.fsencode(there.name)) > _LONGEST_NAME:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), str(path))
        there = there.parent
    if not stat.S_ISDIR(os.stat(there).st_mode):
        raise NotADirectoryError(errno.ENOTDIR, f"{shown(str(there))} is not a folder", str(path))
    if not os.access(there, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def _try_to_write(path: Path) -> None:
    if os.path.realpath(path).startswith(_OF_THE_KERNEL):
        raise OSError(errno.EINVAL, "is the kernel's, not a regular file", str(path))
    if os.path.lexists(path):
        require_regular(path)
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return
    # Why by creating it: mode bits do not show what a file system such as /proc refuses.
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
    os.unlink(path)
