"""Building ahead of time: every spec of every aot() into a folder that is a read-only store."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl.arch import Arch
from fictl.errors import UsageError
from fictl.jit.progress import Observer
from fictl.jit.store.entry import MANIFEST, Entry
from fictl.jit.store.staging import publish
from fictl.jit.store.stores import STORE_FILE, Store
from fictl.jit.store.writing import writing
from fictl.op.builds import building
from fictl.op.builds.building import Built
from fictl.user_file import read_text
from fictl.version import VERSION


@dataclass(frozen=True)
class Shipped:
    """What became of each module, and how many builds of earlier sources were taken out."""

    out: Path
    built: tuple[Built, ...]
    replaced: int

    def to_dict(self) -> dict[str, Any]:
        modules = [built.to_dict() for built in self.built]
        return {"out": str(self.out), "modules": modules, "replaced": self.replaced}


def ship(out: Path, names: Sequence[str], archs: tuple[Arch, ...], observer: Observer) -> Shipped:
    """Build in the cache, then copy: what is built already costs nothing; failures are isolated."""
    store = _open(out.absolute())
    results = tuple(_copied(store, built) for built in building.build(names, archs, observer))
    return Shipped(store.root, results, sum(_replace(store, results)))


def _open(root: Path) -> Store:
    """The folder as a store of this version; anything else in it is refused, not mixed with."""
    mark = root / STORE_FILE
    if mark.is_file():
        made_by = _made_by(mark)
        if made_by != VERSION:
            raise UsageError(
                f"{root} was made by fictl {made_by}, this is {VERSION}",
                "remove it, or name another folder",
            )
    elif root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise UsageError(
            f"{root} holds something that fictl did not put there",
            "name a folder that is empty, or does not exist yet",
        )
    with writing(root):
        root.mkdir(parents=True, exist_ok=True)
        mark.write_text(json.dumps({"fictl": VERSION}) + "\n", encoding="utf-8")
    return Store(root, prebuilt=True)


def _made_by(mark: Path) -> str:
    try:
        return str(json.loads(read_text(mark))["fictl"])
    except (OSError, ValueError, KeyError, TypeError):
        return "of an unknown version"


def _copied(store: Store, built: Built) -> Built:
    """The module and its manifest; logs and build files name paths of this machine."""
    if built.error:
        return built
    source = Entry.read(Path(built.path))
    module_dir = store.module_dir(built.project, built.module)
    staging = module_dir / f".{secrets.token_hex(8)}"
    with writing(store.root):
        staging.mkdir(parents=True)
        try:
            for name in (*source.manifest.files, MANIFEST):
                shutil.copy2(source.path / name, staging / name)
            entry = publish(staging, module_dir / built.recipe / built.build)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    return Built(**{**built.__dict__, "path": str(entry.path)})


def _replace(store: Store, results: Iterable[Built]) -> Iterable[int]:
    """Recipes that a module has no more, once all its builds are there."""
    recipes: dict[tuple[str, str], set[str]] = {}
    for built in results:
        recipes.setdefault((built.project, built.module), set()).add(built.recipe)
    for (project, module), current in recipes.items():
        if "" in current:  # One of them failed: what was there before is better than nothing.
            continue
        for old in sorted(store.module_dir(project, module).iterdir()):
            if old.name not in current:
                shutil.rmtree(old, ignore_errors=True)
                yield 1
