"""Cache folders that only their user can write, because modules loaded from there are code."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from fictl import settings
from fictl.errors import SetupError

_ELSEWHERE = f"set {settings.WORKSPACE_BASE.name} to a folder of your own"


# Another process may clear a level away between two steps: then all are made again, this often.
_ATTEMPTS = 100


def make(root: Path, *parts: str) -> Path:
    """Create `root/parts…`; each missing level is created for its user alone."""
    for _ in range(_ATTEMPTS - 1):
        with suppress(FileNotFoundError):
            return _make(root, *parts)
    return _make(root, *parts)


def _make(root: Path, *parts: str) -> Path:
    make_within(root.parent)
    folder = root
    for place in (root, *_levels(root, parts)):
        try:
            os.mkdir(place, 0o700)
        except FileExistsError:
            if os.path.lexists(place) and not os.path.isdir(place):
                raise NotADirectoryError(20, os.strerror(20), str(place)) from None
        folder = place
    check(root, *parts)
    return folder


def make_within(folder: Path) -> None:
    """Create the missing levels of a path, with the permissions of the nearest existing folder."""
    missing = [folder]
    while not os.path.isdir(missing[-1].parent):
        missing.append(missing[-1].parent)
    mode = os.stat(missing[-1].parent).st_mode & 0o777
    for place in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(place, mode)


def check(root: Path, *parts: str) -> None:
    """Refuse a folder that others can write, or a link; only the root may be a link."""
    _check(root, follow=True)
    for place in _levels(root, parts):
        _check(place, follow=False)


def _levels(root: Path, parts: tuple[str, ...]) -> list[Path]:
    return [root.joinpath(*parts[: depth + 1]) for depth in range(len(parts))]


def _check(place: Path, follow: bool) -> None:
    try:
        info = os.stat(place, follow_symlinks=follow)
    except OSError:  # Nothing is read from there, and a later write reports the problem.
        return
    if stat.S_ISLNK(info.st_mode):
        raise SetupError(
            f"the cache {place} is a link: what it leads to is not the cache",
            f"remove the link; to keep the cache elsewhere, {_ELSEWHERE}",
        )
    if info.st_mode & (stat.S_IWOTH | stat.S_IWGRP):
        open_to = "others" if info.st_mode & stat.S_IWOTH else "its group"
        raise SetupError(
            f"the cache {place} can be written by {open_to}; a loaded module is code",
            f"chmod 700 '{place}', or {_ELSEWHERE}",
        )
    if info.st_uid != os.geteuid():
        raise SetupError(
            f"the cache {place} belongs to user {info.st_uid}, you are user {os.geteuid()}",
            _ELSEWHERE,
        )
