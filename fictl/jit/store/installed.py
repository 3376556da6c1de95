"""Stores in installed wheels, found by the entry point group `fictl.stores`; nothing is imported.

The folders of Python's path are read once, and again when one of them has changed.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fictl.jit.store.entry import MODULE
from fictl.paths import matching
from fictl.user_file import read_bytes

GROUP = "fictl.stores"

_MARK = "store.json"
_LARGEST = 1 << 16
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")


@dataclass(frozen=True)
class InstalledStore:
    """The store of a wheel; `problem` says why it is not used, or is ''.

    distribution, version: the wheel's.
    """

    distribution: str
    version: str
    root: Path
    problem: str = ""

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"


def installed_stores() -> tuple[InstalledStore, ...]:
    """Return the stores of all wheels on Python's path, in its order, usable or not."""
    return _stores(tuple(_folders()))


def _folders() -> Iterator[tuple[str, int]]:
    """Yield the absolute folders of Python's path; an installation changes the mtime."""
    for place in dict.fromkeys(sys.path):
        if os.path.isabs(place):
            try:
                info = os.stat(place)
            except OSError:
                continue
            if stat.S_ISDIR(info.st_mode):
                yield place, info.st_mtime_ns


@lru_cache(maxsize=1)
def _stores(folders: tuple[tuple[str, int], ...]) -> tuple[InstalledStore, ...]:
    listed = (
        store
        for place, _ in folders
        for file in matching(Path(place), "*.dist-info/entry_points.txt")
        for store in _of_distribution(Path(place), file)
    )
    first = {(store.distribution.lower(), store.root.name): store for store in reversed([*listed])}
    return tuple(reversed(first.values()))


def _of_distribution(site: Path, file: Path) -> Iterator[InstalledStore]:
    """Yield the stores that one wheel declares; of most wheels none, which costs one read."""
    distribution, _, version = file.parent.name.removesuffix(".dist-info").partition("-")
    try:
        text = read_bytes(file, _LARGEST).decode()
    except (OSError, UnicodeDecodeError):
        return  # Of another wheel, as far as anyone can tell.
    if GROUP not in text:
        return
    for value in _values(text):
        root = site / value if _NAME.fullmatch(value) else site
        yield InstalledStore(distribution, version, root, _problem(site, root, value))


def _values(text: str) -> Iterator[str]:
    """Yield the values of our group. The file is an INI file without quotes or continued lines."""
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[]").strip()
        elif group == GROUP and line and line[0] not in "#;":
            yield line.partition("=")[2].strip()


def _problem(site: Path, root: Path, value: str) -> str:
    """Say why the folder of an entry point is not loaded from; '' if it may be."""
    if root == site:
        return f"its entry point is {value!r}, which is not the name of a folder beside it"
    try:
        info = os.lstat(root)
        owners = {0, os.geteuid(), os.stat(site).st_uid}
    except OSError as error:
        return f"{root} cannot be read: {error.strerror}"
    if not stat.S_ISDIR(info.st_mode):
        return f"{root} is not a folder"
    if info.st_uid not in owners:
        return f"{root} belongs to user {info.st_uid}, who does not own {site}"
    if not os.path.isfile(root / _MARK):
        return f"{root} has no {_MARK}"
    return _open_to_others(root)


def unsafe(root: Path, build: Path) -> str:
    """Say which part of a build, or folder on the way to it, others may have changed; '' if none."""
    above = (place for place in build.parents if place.is_relative_to(root))
    return next(filter(None, map(_open_to_others, (build / MODULE, build, *above))), "")


def _open_to_others(path: Path) -> str:
    """Say that everyone may write there, where a loaded module is code; '' if not.

    Why not the group, too: pip installs for the group wherever the user's umask is 002.
    """
    try:
        info = os.lstat(path)
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}"
    if stat.S_ISLNK(info.st_mode):
        return f"{path} is a link, which a wheel does not hold"
    if info.st_mode & stat.S_IWOTH:
        return f"{path} can be written by everyone; a loaded module is code"
    return ""
