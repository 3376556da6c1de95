"""Scratch folders of judges, below one root that is hidden from every solution."""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fictl.errors import SetupError
from fictl.judge.fault import own_faults
from fictl.removal import remove


def scratch_root() -> Path:
    """Create the root of this user's scratch folders; refuse one that others can open."""
    with own_faults("creating the root of its scratch folders"):
        folder = Path(tempfile.gettempdir()) / f"fictl-judges-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    if status.st_uid != os.getuid() or status.st_mode & 0o077 or folder.is_symlink():
        raise SetupError(
            f"{folder} is open to other users", "remove it, or set TMPDIR to another folder"
        )
    return folder


def new_scratch(kind: str) -> Path:
    """Create a scratch folder of this process; remove those of processes that have ended."""
    folder = scratch_root()
    with own_faults("making a scratch folder"):
        for entry in folder.iterdir():
            owner = entry.name.partition("-")[0]
            if owner.isdecimal() and not os.path.exists(f"/proc/{owner}"):
                remove(entry)
        scratch = folder / f"{os.getpid()}-{kind}-{secrets.token_hex(4)}"
        scratch.mkdir(mode=0o700)
    return scratch


@contextmanager
def scratch_folder(kind: str) -> Iterator[Path]:
    """Create a scratch folder and remove it at the end of the block."""
    scratch = new_scratch(kind)
    try:
        yield scratch
    finally:
        remove(scratch)


def make_home(folder: Path) -> None:
    """Create `folder` with home and tmp; replace files of an earlier process there."""
    for place in (folder, folder / "home", folder / "tmp"):
        if not _is_folder(place):
            remove(place)
            place.mkdir(parents=True)
        place.chmod(0o700)


def _is_folder(path: Path) -> bool:
    """Tell whether `path` is a folder, and not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False
