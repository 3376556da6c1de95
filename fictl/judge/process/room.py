"""Folders of judges: one above all, so that what one has is hidden from the solutions of another."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from pathlib import Path

from fictl.errors import SetupError


def all_rooms() -> Path:
    """Of this user: nobody else may look into it."""
    folder = Path(tempfile.gettempdir()) / f"fictl-judges-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or folder.is_symlink():
        raise SetupError(
            f"{folder} is not this user's alone", "remove it, or set TMPDIR to another folder"
        )
    return folder


def new_room(kind: str) -> Path:
    """For a process of ours; those whose processes have died go."""
    folder = all_rooms()
    for entry in folder.iterdir():
        owner = entry.name.partition("-")[0]
        if owner.isdigit() and not os.path.exists(f"/proc/{owner}"):
            shutil.rmtree(entry, ignore_errors=True)
    made = folder / f"{os.getpid()}-{kind}-{secrets.token_hex(4)}"
    made.mkdir(mode=0o700)
    return made
