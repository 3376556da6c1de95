"""What lies in a store, piece by piece: builds, objects, and what builds left behind."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fictl.jit.store import past_sources
from fictl.jit.store.entry import MANIFEST, Corrupt, Entry
from fictl.jit.store.failure import FAILED
from fictl.jit.store.lock import is_held
from fictl.jit.store.staging import STAGING, is_abandoned
from fictl.jit.store.stores import LAYOUT
from fictl.jit.store.use import in_use
from fictl.paths import SOLUTIONS

TRASH = ".trash"
TEXT = "text"  # What load_inline was given.
INSPECTED = "inspect"  # What fictl inspect has read of each unit.
_OF_MODULE = (FAILED, "ninja", TEXT)
_OF_STORE = {
    ".quarantine": "quarantine", TRASH: "trash", ".memo": "memo",
    past_sources.FOLDER: "source", ".locks": "lock",
}  # fmt: skip


@dataclass(frozen=True)
class Item:
    """One thing that can be removed alone. `entry` is set for a build that can be read."""

    kind: str
    path: Path
    size: int
    used: float
    in_use: bool = False
    project: str = ""
    module: str = ""
    entry: Entry | None = None


def inventory(root: Path) -> list[Item]:
    """Everything below a cache's root that fictl made, of other layout versions too."""
    items = [item for project in _visible(root / LAYOUT) for item in _of_project(project)]
    for name, kind in _OF_STORE.items():
        items += [_item(kind, path, kind == "lock" and is_held(path))
                  for path in _children(root / LAYOUT / name)]  # fmt: skip
    for builder in _children(root / SOLUTIONS):
        items += map(_of_builder, _children(builder))
    others = (path for path in _children(root) if re.fullmatch(r"v\d+", path.name))
    return items + [_item("version", path) for path in others if path.name != LAYOUT]


def builds(root: Path) -> list[Item]:
    """The builds alone, as a read-only store has them."""
    return [item for project in _visible(root / LAYOUT) for item in _of_project(project)
            if item.kind == "build"]  # fmt: skip


def modules(root: Path) -> set[tuple[str, str]]:
    """Project and module of everything that belongs to one; nothing is measured."""
    projects = (path for path in _visible(root / LAYOUT) if os.path.isdir(path))
    return {(project.name, module.name) for project in projects for module in _visible(project)}


def _of_project(project: Path) -> Iterator[Item]:
    for module in _visible(project):
        names = {"project": project.name, "module": module.name}
        staged = [
            _item("staging", path, not is_abandoned(path), **names)
            for path in _children(module / STAGING)
        ]
        yield from staged
        # Why: a build that runs now may be about to link them.
        busy = any(item.in_use for item in staged)
        for path in _visible(module):
            if path.name == "objects":
                yield from (_item("object", each, busy, **names) for each in _children(path))
            elif path.name == INSPECTED:
                yield from (_item("record", each, busy, **names) for each in _children(path))
            elif path.name in _OF_MODULE or os.path.isfile(path):
                yield _item("failed" if path.name == FAILED else "record", path, busy, **names)
            elif path.name != STAGING:
                yield from (_build(each, **names) for each in _visible(path) if os.path.isdir(each))


def _of_builder(path: Path) -> Item:
    """A solution's folder, or the lock of one."""
    return _item("solution", path) if os.path.isdir(path) else _item("lock", path, is_held(path))


def _build(path: Path, project: str, module: str) -> Item:
    entry = None
    with suppress(Corrupt):
        entry = Entry.read(path)
    used = in_use(path) if os.path.isfile(path / MANIFEST) else False
    return Item("build", path, _size(path), _used(path), used, project, module, entry)


def _item(
    kind: str, path: Path, used_now: bool = False, project: str = "", module: str = ""
) -> Item:
    return Item(kind, path, _size(path), _used(path), used_now, project, module)


def _used(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:  # Somebody else removed it.
        return 0.0


def _size(path: Path) -> int:
    # Not rglob, which stops where a running build removes a folder in front of it.
    inside = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    return _bytes(path) + sum(map(_bytes, inside))


def _bytes(path: str | Path) -> int:
    """Of a file, or nothing for what is none any more."""
    try:
        status = os.lstat(path)
    except OSError:
        return 0
    return 0 if stat.S_ISDIR(status.st_mode) else status.st_size


def _visible(folder: Path) -> list[Path]:
    return [path for path in _children(folder) if not path.name.startswith(".")]


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
