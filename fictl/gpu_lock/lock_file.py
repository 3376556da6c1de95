"""The lock file of one GPU, which any user may have created.

Nobody writes to it, and who locks it needs no more than to read it: a file of another user cannot
make this process change, or wait for, anything else.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from fictl import settings
from fictl.errors import SetupError
from fictl.gpu_lock.holder import user_name

_ATTEMPTS = 100
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
_CREATE = os.O_WRONLY | os.O_CLOEXEC | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


class LockFile:
    """An open lock file; the kernel frees its lock when the last process that has it open ends."""

    def __init__(self, folder: Path, key: str) -> None:
        self._path = folder / f"fictl-gpu-{key}.lock"
        self.handle = _open(self._path)

    def take(self, *, shared: bool) -> bool:
        """Lock it now; return False if others hold it."""
        how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        while True:
            try:
                fcntl.flock(self.handle, how | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            except OSError as error:
                raise _refused(self._path, error.strerror or "") from None
            if self._is_current():
                return True
            # It was removed since it was opened: others lock its successor.
            self.close()
            self.handle = _open(self._path)

    def close(self) -> None:
        os.close(self.handle)

    def _is_current(self) -> bool:
        try:
            return os.path.samestat(os.lstat(self._path), os.fstat(self.handle))
        except FileNotFoundError:
            return False


def _open(path: Path) -> int:
    for _ in range(_ATTEMPTS):
        try:
            handle = os.open(path, _OPEN)
        except FileNotFoundError:
            _create(path)
            continue
        except OSError as error:
            raise _refused(path, error.strerror or "") from None
        if stat.S_ISREG(os.fstat(handle).st_mode):
            return handle
        os.close(handle)
        raise _refused(path, "it is not a file")
    raise _refused(path, "it is removed again and again")


def _create(path: Path) -> None:
    """Create it complete: readable for all users from the moment that it is there."""
    new = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        handle = os.open(new, _CREATE, 0o644)
        try:
            os.fchmod(handle, 0o644)  # Whatever the umask.
            with suppress(FileExistsError):
                os.link(new, path, follow_symlinks=False)
        finally:
            os.close(handle)
            os.unlink(new)
    except OSError as error:
        raise _refused(path, error.strerror or "") from None


def _refused(path: Path, why: str) -> SetupError:
    try:
        owner = f"; it belongs to user {user_name(os.lstat(path).st_uid)}"
    except OSError:
        owner = ""
    return SetupError(
        f"the GPU's lock {path} cannot be used: {why}{owner}",
        f"remove it, or set {settings.GPU_LOCK_DIR.name} to another folder for all users",
    )
