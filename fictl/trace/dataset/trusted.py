"""Trust in a dataset: only its owner may write it, since its solutions run in this process."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from fictl import settings
from fictl.errors import MissingFile, SetupError
from fictl.owners import is_listed_safe, trusted_users, user_name
from fictl.paths import real

# Folders whose files decide what runs; blobs of workloads do not.
_DECIDING = ("definitions", "solutions", "traces")
# Folders that workloads are added to.
WRITTEN = ("definitions", "workloads", "blob")


def require_trusted(root: Path) -> Path:
    """Return the dataset's real folder; refuse one that others own or can write, or a link in it.

    FICTL_SAFE_PROJECTS lists folders of other users whose code may run; none may be open to all.
    """
    root = real(root)
    if not os.path.isdir(root):
        raise MissingFile(f"{root} is not a folder", "name a dataset")
    users = None if is_listed_safe(root) else trusted_users()
    for path in _paths(root):
        _require(path, root, users)
    return root


def require_own_folder(root: Path) -> None:
    """Refuse a dataset to write to that others own or can write: a link would lead elsewhere."""
    users = trusted_users()
    for path in (root, *(root / name for name in WRITTEN)):
        if os.path.lexists(path):
            _require(path, root, users)


def _require(path: Path, root: Path, users: set[int] | None) -> None:
    info = os.lstat(path)
    if stat.S_ISLNK(info.st_mode) and path != root:
        raise SetupError(
            f"{path} is a link; a dataset whose code runs holds its own files",
            "copy the file in its place",
        )
    if users is not None and info.st_uid not in users:
        raise SetupError(
            f"{path} belongs to {user_name(info.st_uid)}, and you are "
            f"{user_name(os.geteuid())}: its code does not run",
            f"copy the dataset, or, if you trust all of it: {settings.SAFE_PROJECTS.name}={root}",
        )
    if info.st_mode & (stat.S_IWOTH | stat.S_IWGRP):
        who = "others" if info.st_mode & stat.S_IWOTH else "its group"
        raise SetupError(
            f"{path} can be written by {who}; what a dataset holds is code",
            f"chmod -R go-w '{root}'",
        )


def _paths(root: Path) -> Iterator[Path]:
    yield root
    pending = [root / name for name in _DECIDING]
    while pending:
        path = pending.pop()
        if not os.path.lexists(path):
            continue
        yield path
        if os.path.isdir(path) and not os.path.islink(path):
            with os.scandir(path) as entries:
                pending += [Path(entry.path) for entry in entries]
