"""Inventory of a store, item by item: builds, objects, and remains of builds."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from fictl.jit.store import past_sources
from fictl.jit.store.entry import Entry, Newer, Unusable
from fictl.jit.store.failure import FAILED
from fictl.jit.store.lock import is_held
from fictl.jit.store.staging import STAGING, is_abandoned
from fictl.jit.store.stores import LAYOUT
from fictl.jit.store.use import in_use
from fictl.paths import FARM, SOLUTIONS, files_below, real
from fictl.rooted import mounts_in

TRASH = ".trash"
TEXT = "text"  # Sources given to load_inline.
INSPECTED = "inspect"  # Results of fictl inspect for each unit.
_OF_MODULE = (FAILED, "ninja", TEXT)
_OF_STORE = {
    ".quarantine": "quarantine",
    TRASH: "trash",
    ".memo": "memo",
    past_sources.FOLDER: "source",
    ".locks": "lock",
    ".remote": "remote",
}


# Not made by fictl: it is listed, but not followed, counted or removed.
LINK, MOUNT = "link", "mount"


@dataclass(frozen=True)
class Item:
    """One item that can be removed alone. `entry` is set for a readable build; one that is `newer`
    was made by a newer fictl.
    """

    kind: str
    path: Path
    size: int
    used: float
    in_use: bool = False
    project: str = ""
    module: str = ""
    entry: Entry | None = None
    newer: bool = False

    @property
    def leads_out(self) -> bool:
        return self.kind in (LINK, MOUNT)


def inventory(root: Path) -> list[Item]:
    """List all that fictl made below a cache's root, of other layout versions too, and all links
    out of it.
    """
    walk = _Walk.below(root)
    ours = [path for path in _children(root) if re.fullmatch(rf"v\d+|{SOLUTIONS}", path.name)]
    return [item for path in ours for item in walk.at(path, walk.of_root)]


def builds(root: Path) -> list[Item]:
    """List only the builds, as in a read-only store."""
    walk = _Walk.below(root)
    return [item for item in walk.at(root / LAYOUT, walk.of_layout) if item.kind == "build"]


def modules(root: Path) -> set[tuple[str, str]]:
    """Return each (project, module) that has items; sizes are not measured."""
    projects = _plain(root / LAYOUT)
    return {(project.name, module.name) for project in projects for module in _plain(project)}


@dataclass(frozen=True)
class _Walk:
    """Walk down from the root, level by level; stop at every link and mount."""

    mounted: frozenset[Path]

    @classmethod
    def below(cls, root: Path) -> _Walk:
        top = real(root)
        inside = (Path(place) for place in mounts_in(top))
        return cls(frozenset(root / place.relative_to(top) for place in inside if place != top))

    def at(self, path: Path, inside: Callable[..., Iterator[Item]], **names: Any) -> Iterator[Item]:
        if os.path.islink(path) or path in self.mounted:
            yield Item(LINK if os.path.islink(path) else MOUNT, path, 0, _used(path), **names)
        else:
            yield from inside(path, **names)

    def all_in(
        self, folder: Path, inside: Callable[..., Iterator[Item]], **names: Any
    ) -> Iterator[Item]:
        for path in _children(folder):
            yield from self.at(path, inside, **names)

    def of_root(self, path: Path) -> Iterator[Item]:
        if path.name == LAYOUT:
            yield from self.of_layout(path)
        elif path.name == SOLUTIONS:
            yield from self.all_in(path, self.of_builder)
        else:
            yield from self.whole("version", path)

    def of_layout(self, path: Path) -> Iterator[Item]:
        yield from self.all_in(path, self.of_store)

    def of_store(self, path: Path) -> Iterator[Item]:
        kind = _OF_STORE.get(path.name)
        if path.name == FARM[-1]:
            # Its folders belong to processes, which remove them.
            for child in _children(path):
                if not os.path.isdir(child):
                    yield from self.at(child, partial(self.whole, "blob"))
        elif kind:
            for child in _children(path):
                yield from self.at(child, partial(self.whole, kind))
        elif not path.name.startswith("."):
            for module in _children(path):
                if not module.name.startswith("."):
                    yield from self.at(
                        module, self.of_module, project=path.name, module=module.name
                    )

    def of_builder(self, path: Path) -> Iterator[Item]:
        """Yield the folders of solutions, and their locks."""
        for child in _children(path):
            kind = "solution" if os.path.isdir(child) else "lock"
            yield from self.at(child, partial(self.whole, kind))

    def of_module(self, folder: Path, **names: Any) -> Iterator[Item]:
        staged = list(self.at(folder / STAGING, partial(self.all_in, inside=self.staged), **names))
        yield from staged
        # Why: a running build may be about to link them.
        busy = any(item.in_use for item in staged)
        for path in _children(folder):
            if path.name != STAGING and not path.name.startswith("."):
                yield from self.at(path, partial(self.of_module_part, busy), **names)

    def staged(self, path: Path, **names: Any) -> Iterator[Item]:
        yield from self.whole("staging", path, in_use=not is_abandoned(path), **names)

    def of_module_part(self, busy: bool, path: Path, **names: Any) -> Iterator[Item]:
        if path.name == "objects":
            yield from self.all_in(path, partial(self.whole, "object", in_use=busy), **names)
        elif path.name == INSPECTED:
            yield from self.all_in(path, partial(self.whole, "record", in_use=busy), **names)
        elif path.name in _OF_MODULE or not os.path.isdir(path):
            kind = "failed" if path.name == FAILED else "record"
            yield from self.whole(kind, path, in_use=busy, **names)
        else:
            yield from self.all_in(path, self.build, **names)

    def build(self, path: Path, **names: Any) -> Iterator[Item]:
        if path.name.startswith(".") or not os.path.isdir(path):
            return
        entry, newer = None, False
        try:
            entry = Entry.read(path)
        except Unusable as error:
            newer = isinstance(error, Newer)
        yield from self.whole("build", path, in_use(path), entry=entry, newer=newer, **names)

    def whole(
        self,
        kind: str,
        path: Path,
        in_use: bool = False,
        project: str = "",
        module: str = "",
        entry: Entry | None = None,
        newer: bool = False,
    ) -> Iterator[Item]:
        if kind == "lock":
            in_use = is_held(path)
        if any(path in place.parents for place in self.mounted):
            yield Item(MOUNT, path, 0, _used(path), False, project, module)
        else:
            yield Item(kind, path, _size(path), _used(path), in_use, project, module, entry, newer)


def _plain(folder: Path) -> list[Path]:
    """List the subfolders that are not links; none if `folder` is itself a link."""
    there = _children(folder) if not os.path.islink(folder) else []
    return [path for path in there if not path.name.startswith(".") and not os.path.islink(path)]


def _used(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:  # Somebody else removed it.
        return 0.0


def _size(path: Path) -> int:
    inside = files_below(path) if os.path.isdir(path) else ()
    return _bytes(path) + sum(map(_bytes, inside))


def _bytes(path: str | Path) -> int:
    """Return the size of a file; 0 if it is gone or is not a file."""
    try:
        status = os.lstat(path)
    except OSError:
        return 0
    return 0 if stat.S_ISDIR(status.st_mode) else status.st_size


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
