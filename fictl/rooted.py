"""Access below a folder: reads, moves and removals that never follow a link out of it.

A path is opened part by part, so that a folder replaced by a link meanwhile is an error; only the
root may be a link.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from fictl.removal import empty
from fictl.user_file import open_regular

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove(root: Path, path: Path) -> None:
    """Remove the file, link or whole folder at `path`; remove nothing if it contains a mount."""
    mounted = mounts_in(path)
    if mounted:
        raise OSError(errno.EBUSY, "a file system is mounted there", mounted[0])
    with _opened(root, path.parent) as parent:
        if not stat.S_ISDIR(os.lstat(path.name, dir_fd=parent).st_mode):
            os.unlink(path.name, dir_fd=parent)
            return
        folder = os.open(path.name, _FOLDER, dir_fd=parent)
        try:
            refused = empty(folder)
        finally:
            os.close(folder)
        if refused is not None:
            raise refused
        os.rmdir(path.name, dir_fd=parent)


def read(path: Path) -> bytes:
    """Read the bytes of a regular file; a pipe is refused without waiting for it."""
    with open_regular(path) as file:
        return file.read()


def opened(root: Path, path: Path) -> BinaryIO:
    """Open a regular file for reading; a pipe or a link is refused without waiting for it."""
    with _opened(root, path.parent) as parent:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        file = os.fdopen(os.open(path.name, flags, dir_fd=parent), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
    return file


@contextmanager
def created(root: Path, path: Path) -> Iterator[BinaryIO]:
    """Write a file, and the folders it needs; it is there once it is whole, and replaces another.

    Both get the permissions of the folder they are in, whatever the umask is.
    """
    temporary = f".{path.name[:200]}.{os.urandom(4).hex()}"
    with _opened(root, path.parent, make=True) as parent:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(temporary, flags, 0o600, dir_fd=parent), "wb") as file:
                yield file
                os.fchmod(file.fileno(), os.fstat(parent).st_mode & 0o666)
            os.rename(temporary, path.name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=parent)
            raise


def remove_if_empty(root: Path, folder: Path) -> None:
    with _opened(root, folder.parent) as parent:
        os.rmdir(folder.name, dir_fd=parent)


def move(root: Path, source: Path, target: Path) -> None:
    with _opened(root, source.parent) as old, _opened(root, target.parent) as new:
        os.rename(source.name, target.name, src_dir_fd=old, dst_dir_fd=new)


def mounts_in(path: Path) -> list[str]:
    """List the mount points at or below `path`, including bind mounts of the same file system."""
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return []
    top = os.fsencode(os.path.join(os.path.realpath(path.parent), path.name))
    places = (re.sub(rb"\\([0-7]{3})", _unescaped, line.split(b" ")[4]) for line in lines)
    return [os.fsdecode(place) for place in places if place == top or place.startswith(top + b"/")]


def _unescaped(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 8)])


@contextmanager
def _opened(root: Path, folder: Path, make: bool = False) -> Iterator[int]:
    here = os.open(root, _FOLDER & ~os.O_NOFOLLOW)
    try:
        for part in folder.relative_to(root).parts:
            here = _made(here, part) if make else _entered(here, part)
        yield here
    finally:
        os.close(here)


def _made(here: int, name: str) -> int:
    """Enter a folder that may be missing; a new one gets the permissions of the one around it."""
    mode = os.fstat(here).st_mode
    try:
        os.mkdir(name, 0o700, dir_fd=here)
    except FileExistsError:
        return _entered(here, name)
    inner = _entered(here, name)
    os.fchmod(inner, stat.S_IMODE(mode))
    return inner


def _entered(here: int, name: str) -> int:
    """Open the folder of that name and close the one that contains it."""
    inner = os.open(name, _FOLDER, dir_fd=here)
    os.close(here)
    return inner
