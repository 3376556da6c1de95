"""A solution's sources on disk: written atomically, and never read through a link."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from fictl import settings
from fictl.errors import SetupError, UsageError
from fictl.removal import remove

_TRIES = 3
_LARGEST = 16 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Why not blocking: the file may have been replaced by a pipe.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def ensure_private(folder: Path) -> None:
    """Create a folder for this user alone; refuse links and folders others can write to."""
    elsewhere = f"set {settings.CACHE_PATH.name} to a folder of your own"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        info = folder.lstat()
    except OSError as error:
        raise SetupError(f"cannot create {folder}: {error.strerror}", elsewhere) from error
    if not stat.S_ISDIR(info.st_mode):
        raise SetupError(f"{folder} is not a folder, or is a link to one", elsewhere)
    if info.st_uid != os.geteuid() or info.st_mode & (stat.S_IWOTH | stat.S_IWGRP):
        raise SetupError(f"others can write to {folder}; what is built there is code", elsewhere)


def publish(folder: Path, files: Mapping[str, str]) -> None:
    """Write these files to `folder`, replacing different ones.

    The folder is private. Other files stay: a build may be stored with its sources.
    """
    content = {_checked(path): text.encode() for path, text in files.items()}
    if sum(map(len, content.values())) > _LARGEST:
        raise UsageError(f"{folder.name} has more than {_LARGEST >> 20} MiB of sources")
    ensure_private(folder.parent)
    for _ in range(_TRIES):
        if _holds(folder, content):
            return
        remove(folder)
        with staging(folder) as fresh:
            for path, data in content.items():
                _write(fresh, path, data)
            put_in_place(fresh, folder)
    if not _holds(folder, content):
        raise SetupError(f"{folder} changes while it is written", "end what else writes there")


@contextmanager
def staging(final: Path) -> Iterator[Path]:
    """A private folder beside `final`, removed at the end unless it was put in place."""
    fresh = final.with_name(f".{secrets.token_hex(8)}")
    fresh.mkdir(mode=0o700)
    try:
        yield fresh
    finally:
        remove(fresh)


def put_in_place(fresh: Path, final: Path) -> bool:
    """Rename the folder; False if another process was first."""
    try:
        os.rename(fresh, final)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise
        return False
    return True


def read_file(folder: Path, path: PurePosixPath) -> bytes | None:
    """Read an ordinary file; None for others, and if any part of the path is a link."""
    opened: list[int] = []
    try:
        opened.append(os.open(folder, _FOLDER))
        for part in path.parts[:-1]:
            opened.append(os.open(part, _FOLDER, dir_fd=opened[-1]))
        opened.append(os.open(path.name, _FILE, dir_fd=opened[-1]))
        if not stat.S_ISREG(os.fstat(opened[-1]).st_mode):
            return None
        with os.fdopen(opened.pop(), "rb") as file:
            return file.read()
    except OSError:
        return None
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _checked(text: str) -> PurePosixPath:
    """Check a path again: a model can be constructed without validation."""
    path = PurePosixPath(text)
    strange = {"..", "."} & {*text.split("/")} or "\\" in text or "\0" in text
    if not path.parts or path.is_absolute() or strange or "" in text.split("/"):
        raise UsageError(f"{text!r} cannot be the path of a source", "as in src/main.py")
    return path


def _holds(folder: Path, content: Mapping[PurePosixPath, bytes]) -> bool:
    return all(read_file(folder, path) == data for path, data in content.items())


def _write(folder: Path, path: PurePosixPath, data: bytes) -> None:
    """Write files in a folder that no other process knows yet."""
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
