"""The private folder a build happens in, and its publication by one atomic rename."""

from __future__ import annotations

import errno
import os
import platform
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fictl.errors import SetupError
from fictl.jit.entry import Entry


@contextmanager
def staging_folder(module_dir: Path) -> Iterator[Path]:
    """A fresh folder that is gone afterwards, published or not; full disks are said in words."""
    parent = module_dir / "staging"
    path = parent / f"{platform.node()}+{os.getpid()}+{secrets.token_hex(4)}"
    try:
        path.mkdir(parents=True)
        _sweep(parent)
        yield path
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
            raise SetupError(
                f"cannot write to the cache at {module_dir}: {error.strerror}",
                "free some space, or set FICTL_WORKSPACE_BASE to a folder with room",
            ) from error
        raise
    finally:
        shutil.rmtree(path, ignore_errors=True)


def publish(staging: Path, final: Path) -> Entry:
    """Rename into place. Whoever comes second takes what is there, unless it is broken."""
    final.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(3):
        try:
            os.rename(staging, final)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            winner = Entry.whole(final)
            if winner is not None:
                return winner
            shutil.rmtree(final, ignore_errors=True)
        else:
            break
    return Entry.read(final)


def _sweep(parent: Path) -> None:
    """Remove what killed builds on this host left behind."""
    for path in parent.iterdir():
        host, _, rest = path.name.partition("+")
        pid = rest.partition("+")[0]
        if host == platform.node() and pid.isdigit() and not Path("/proc", pid).exists():
            shutil.rmtree(path, ignore_errors=True)
