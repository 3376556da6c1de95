"""Integrity check of stores: read everything, and find what differs from what was written."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fictl import rooted
from fictl.jit.cache.inventory import INSPECTED, Item, builds, inventory
from fictl.jit.cache.removal import clear
from fictl.jit.store import kept, past_sources
from fictl.jit.store.entry import Corrupt, Entry
from fictl.jit.store.failure import FAILURE
from fictl.jit.store.objects import is_whole
from fictl.jit.store.stores import Store
from fictl.paths import files_below, matching
from fictl.sealed import unseal


@dataclass(frozen=True)
class Broken:
    """A damaged build, object or record."""

    store: Path
    path: Path
    project: str
    module: str
    problem: str
    removed: bool = False


@dataclass(frozen=True)
class Integrity:
    """The number of items read, and the broken ones."""

    checked: int
    broken: tuple[Broken, ...]


# Items without a hash, since nothing depends on them: logs, locks, files rewritten before each use.
_READ = ("build", "object", "record", "failed", "memo", "source")


def check_store(store: Store, repair: bool = False) -> Integrity:
    """Check all items. `repair` removes broken ones from a writable store; use remakes them."""
    everything = inventory(store.root) if store.writable else builds(store.root)
    items = [item for item in everything if item.kind in _READ]
    items += _records_beside(store.root) if store.writable else []
    problems = {item.path: problem for item in items if (problem := _problem(item))}
    if problems and repair and store.writable:
        clear(store.root, lambda item: item.path in problems)
        for item in items:
            if item.kind == _BESIDE and item.path in problems:
                rooted.remove(store.root, item.path)
    broken = (
        Broken(
            store.root,
            item.path,
            item.project,
            item.module,
            problems[item.path],
            removed=not os.path.lexists(item.path),
        )
        for item in items
        if item.path in problems
    )
    return Integrity(len(items), tuple(broken))


_BESIDE = "beside"


def _records_beside(root: Path) -> list[Item]:
    """List the records that outlive builds: tuned tactics, and undo records of scaffolds."""
    folders = [root / name for name in ("tune", "scaffold") if not os.path.islink(root / name)]
    paths = [path for folder in folders for path in matching(folder, "*.json")]
    return [Item(_BESIDE, path, 0, 0.0) for path in paths if not os.path.islink(path)]


def _problem(item: Item) -> str:
    try:
        _verify(item)
    except (Corrupt, ValueError) as error:
        return str(error)
    except FileNotFoundError:
        pass  # Removed after it was listed.
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return ""


def _verify(item: Item) -> None:
    path = item.path
    if item.newer:
        return  # Its own version knows what it has to be like.
    if item.kind == "build":
        _verify_build(path)
    elif item.kind == "object":
        if not is_whole(path):
            raise Corrupt("other bytes than its name says")
    elif item.kind == "source":
        if not past_sources.is_whole(path.name, rooted.read(path)):
            raise Corrupt("other bytes than its name says")
    elif item.kind == "failed":
        unseal(rooted.read(path / FAILURE))
    elif path.parent.name == INSPECTED:
        kept.read(path)
    elif path.suffix == ".json":
        # Tactics written by hand have no hash.
        unseal(rooted.read(path), required=item.kind != _BESIDE)


def _verify_build(path: Path) -> None:
    entry = Entry.read(path)
    entry.verify(everything=True)
    lies = (path.parent.name, path.name)
    says = (entry.manifest.recipe, entry.manifest.build)
    if lies != says:
        raise Corrupt(f"its manifest is that of {'/'.join(says)}")
    links = [file for file in files_below(path) if os.path.islink(file)]
    if links:
        raise Corrupt(f"{links[0].name} is a link")
