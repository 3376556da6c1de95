"""Folders of judges: one above all, so that what one has is hidden from the solutions of another."""

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
    """Of this user: nobody else may look into it."""
    with own_faults("making its folder"):
        folder = Path(tempfile.gettempdir()) / f"fictl-judges-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or folder.is_symlink():
        raise SetupError(
            f"{folder} is not this user's alone", "remove it, or set TMPDIR to another folder"
        )
    return folder


def new_scratch(kind: str) -> Path:
    """For a process of ours; those whose processes have died go."""
    folder = scratch_root()
    with own_faults("making a scratch folder"):
        for entry in folder.iterdir():
            owner = entry.name.partition("-")[0]
            if owner.isdecimal() and not os.path.exists(f"/proc/{owner}"):
                remove(entry)
        made = folder / f"{os.getpid()}-{kind}-{secrets.token_hex(4)}"
        made.mkdir(mode=0o700)
    return made


@contextmanager
def scratch_folder(kind: str) -> Iterator[Path]:
    """One that is gone afterwards."""
    made = new_scratch(kind)
    try:
        yield made
    finally:
        remove(made)


def make_home(folder: Path) -> None:
    """`folder` with a home and a tmp for a judged process, whatever an earlier one made of them."""
    for place in (folder, folder / "home", folder / "tmp"):
        if not _is_folder(place):
            remove(place)
            place.mkdir(parents=True)
        place.chmod(0o700)


def _is_folder(path: Path) -> bool:
    """And no link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False
