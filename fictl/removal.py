"""Removal of a folder that untrusted code has written to, whatever its contents."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from fictl.log import warn_once

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_GET_FLAGS, _SET_FLAGS, _IMMUTABLE_OR_APPEND = 0x80086601, 0x40086602, 0x30
_REFUSED = {errno.EACCES, errno.EPERM}
# Limits, because another process may keep writing there.
_ROUNDS, _LONGEST_SECONDS = 3, 300.0


def remove(folder: Path) -> None:
    """Remove `folder` and its contents; a link is removed, not followed.

    It is renamed first, so that its name is free at once. Entries that the system refuses to remove
    (a mount, another user's file) stay, named in one warning, and are not an error.
    """
    import secrets

    aside = folder.with_name(f"{os.getpid()}-removed-{secrets.token_hex(8)}")
    refused = _tried(lambda: os.rename(folder, aside), os.fspath(folder), None)
    if refused is None:
        refused = _removed(aside)
    elif refused.errno != errno.ENOENT:
        aside = folder
    if refused is not None and refused.errno != errno.ENOENT:
        _say(_kept(aside), refused)


def empty(folder: int) -> OSError | None:
    """Remove the contents of an open folder at any depth; return the first refusal, if any."""
    return _Pit(folder).emptied()


def _removed(path: Path) -> OSError | None:
    """Remove one path; return the first refusal, if any."""
    name = os.fspath(path)
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        return _tried(lambda: os.unlink(path), name, None)
    try:
        handle = _opened(name, None)
    except OSError as error:
        return error
    try:
        refused = empty(handle)
    finally:
        os.close(handle)
    return _tried(lambda: os.rmdir(path), name, None) if refused is None else refused


class _Pit:
    """A folder whose nested folders are moved to its top and emptied there.

    This keeps one folder open at a time, uses single names only, and works at any depth. A folder
    is opened only after it was renamed, which the system refuses for a mount: contents of a mount,
    even of the same file system, are never touched.
    """

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._deadline = time.monotonic() + _LONGEST_SECONDS
        self._prefix, self._count = "", 0
        self._refused: OSError | None = None

    def emptied(self) -> OSError | None:
        """Empty the folder in rounds; return the first refusal of the last round."""
        for _ in range(_ROUNDS):
            refused = self._round()
            if refused is None or self._is_late():
                break
        return refused

    def _round(self) -> OSError | None:
        import secrets

        self._refused, self._prefix = None, f"{secrets.token_hex(8)}-"
        waiting = [*self._unloaded(self._handle)]
        while waiting:
            waiting += self._taken_apart(waiting.pop())
        return self._refused

    def _taken_apart(self, name: str) -> list[str]:
        """Empty and remove one folder; return the names of its folders, now at the top."""
        try:
            handle = _opened(name, self._handle)
        except OSError as error:
            self._note(error, name)
            return []
        try:
            entries = [*self._unloaded(handle)]
        finally:
            os.close(handle)
        self._try(lambda: os.rmdir(name, dir_fd=self._handle), name, self._handle)
        return entries

    def _unloaded(self, folder: int) -> Iterator[str]:
        """Remove the entries of an open folder; yield the folders that were moved to the top."""
        with os.scandir(folder) as entries:
            for entry in entries:
                if self._is_late():
                    self._note(OSError(errno.ETIME, "there is too much of it"), entry.name)
                    return
                if entry.name.startswith(self._prefix):
                    continue
                if not entry.is_dir(follow_symlinks=False):
                    self._unlink(entry.name, folder)
                elif (entry_above := self._brought_up(entry.name, folder)) is not None:
                    yield entry_above

    def _unlink(self, name: str, folder: int) -> None:
        self._try(lambda: os.unlink(name, dir_fd=folder), name, folder)

    def _brought_up(self, name: str, folder: int) -> str | None:
        """Move a folder to the top and return its new name; None if it was empty or cannot be
        moved.
        """
        with suppress(OSError):
            os.rmdir(name, dir_fd=folder)
            return None
        self._count += 1
        above = f"{self._prefix}{self._count:x}"

        def rename() -> None:
            os.rename(name, above, src_dir_fd=folder, dst_dir_fd=self._handle)

        return above if self._try(rename, name, folder) else None

    def _try(self, step: Callable[[], object], name: str, folder: int) -> bool:
        refused = _tried(step, name, folder)
        if refused is not None and refused.errno != errno.ENOENT:
            self._note(refused, name)
        return refused is None

    def _note(self, error: OSError, name: str) -> None:
        """Keep the first error, but prefer any other one to "folder not empty"."""
        if self._refused is None or self._refused.errno == errno.ENOTEMPTY:
            self._refused = OSError(error.errno, error.strerror, name)

    def _is_late(self) -> bool:
        return time.monotonic() > self._deadline


def _opened(name: str, at: int | None) -> int:
    """Open a folder and give its user full access, if necessary before opening it."""
    handle = -1

    def step() -> None:
        nonlocal handle
        handle = os.open(name, _FOLDER, dir_fd=at)

    refused = _tried(step, name, at)
    if refused is not None:
        raise refused
    with suppress(OSError):
        if os.fstat(handle).st_mode & stat.S_IRWXU != stat.S_IRWXU:
            os.fchmod(handle, stat.S_IRWXU)
    return handle


def _tried(step: Callable[[], object], name: str, at: int | None) -> OSError | None:
    """Run a step; if permissions refuse it, change them and retry once. Return its error."""
    try:
        step()
    except OSError as error:
        if error.errno not in _REFUSED:
            return error
    else:
        return None
    _loosen(name, at)
    if at is not None:
        _clear_flags(f"/proc/self/fd/{at}")
    try:
        step()
    except OSError as error:
        return error
    return None


def _loosen(name: str, at: int | None) -> None:
    """Make the entry itself removable, never a link's target nor a file with several hard links."""
    with suppress(OSError):
        handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
        try:
            info, place = os.fstat(handle), f"/proc/self/fd/{handle}"
            if stat.S_ISDIR(info.st_mode):
                _clear_flags(place)
                os.chmod(place, stat.S_IRWXU)
            elif stat.S_ISREG(info.st_mode) and info.st_nlink == 1:
                _clear_flags(place)
        finally:
            os.close(handle)


def _clear_flags(place: str) -> None:
    """Clear the chattr flags that prevent even root from removing a file."""
    with suppress(OSError):
        handle = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            flags = struct.unpack("i", fcntl.ioctl(handle, _GET_FLAGS, b"\0" * 4))[0]
            if flags & _IMMUTABLE_OR_APPEND:
                cleared = struct.pack("i", flags & ~_IMMUTABLE_OR_APPEND)
                fcntl.ioctl(handle, _SET_FLAGS, cleared)
        finally:
            os.close(handle)


def _kept(path: Path) -> Path:
    """Rename leftovers, so that no later run tries to remove them again."""
    import secrets

    final = path.with_name(f"left-{secrets.token_hex(4)}")
    with suppress(OSError):
        os.rename(path, final)
        return final
    return path


def _say(path: Path, refused: OSError) -> None:
    about = ascii(refused.filename or path.name)[:120]
    warn_once(f"{path} is left, remove it by hand: {about} cannot be removed: {refused.strerror}")
