"""Reading every byte of every store: what is not as it was published."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from fictl.jit.cache.inventory import Item, builds, inventory
from fictl.jit.cache.removal import clear
from fictl.jit.store.entry import Corrupt, Entry
from fictl.jit.store.objects import is_whole
from fictl.jit.store.stores import Store


@dataclass(frozen=True)
class Broken:
    """A build or an object that is not what it should be."""

    store: Path
    path: Path
    project: str
    module: str
    problem: str
    removed: bool = False


@dataclass(frozen=True)
class Integrity:
    """How much was read, and what was found."""

    checked: int
    broken: tuple[Broken, ...]


def examine(store: Store, repair: bool = False) -> Integrity:
    """`repair` removes what is broken from a writable store: the next use builds it again."""
    everything = inventory(store.root) if store.writable else builds(store.root)
    items = [item for item in everything if item.kind in ("build", "object")]
    problems = {item.path: problem for item in items if (problem := _problem(item))}
    if problems and repair and store.writable:
        clear(store.root, lambda item: item.path in problems)
    broken = (
        Broken(
            store.root, item.path, item.project, item.module, problems[item.path],
            removed=not os.path.exists(item.path),
        )
        for item in items
        if item.path in problems
    )  # fmt: skip
    return Integrity(len(items), tuple(broken))


def _problem(item: Item) -> str:
    try:
        if item.kind == "object":
            return "" if is_whole(item.path) else "other bytes than its name says"
        _verify(item.path)
    except Corrupt as error:
        return str(error)
    except FileNotFoundError:
        pass  # Removed since it was listed.
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return ""


def _verify(path: Path) -> None:
    entry = Entry.read(path)
    entry.verify(everything=True)
    lies = (path.parent.name, path.name)
    says = (entry.manifest.recipe, entry.manifest.build)
    if lies != says:
        raise Corrupt(f"its manifest is that of {'/'.join(says)}")
