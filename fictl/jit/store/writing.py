"""Error messages for a cache that cannot be written: full, read-only, owned by others."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fictl import settings
from fictl.errors import SetupError

_ELSEWHERE = f"set {settings.WORKSPACE_BASE.name} to a folder"
_HINTS = {
    errno.ENOSPC: f"free some space, or {_ELSEWHERE} with room",
    errno.EDQUOT: f"your quota is used up: remove files, or {_ELSEWHERE} with room",
    errno.EROFS: f"{_ELSEWHERE} that you can write",
    errno.EACCES: f"{_ELSEWHERE} that you can write",
    errno.EPERM: f"{_ELSEWHERE} that you can write",
    errno.ELOOP: f"{_ELSEWHERE} that you can write",
    errno.EIO: f"check that file system, or {_ELSEWHERE} on another",
    errno.ESTALE: f"check that file system, or {_ELSEWHERE} on another",
    errno.ENOTCONN: f"check that file system, or {_ELSEWHERE} on another",
    errno.ENOTDIR: f"a file is where a folder should be: remove it, or {_ELSEWHERE} elsewhere",
}


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Translate errors of writing to `folder`; other errors pass unchanged."""
    try:
        yield
    except OSError as error:
        if error.errno not in _HINTS:
            raise
        raise SetupError(
            f"cannot write to the cache at {folder}: {error.strerror}", _HINTS[error.errno]
        ) from error
