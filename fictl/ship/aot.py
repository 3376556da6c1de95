"""Ahead-of-time builds: every spec of every aot(), in a folder that is a read-only store."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fictl import rooted, settings
from fictl.arch import Arch
from fictl.builds import building
from fictl.builds.building import BuiltModule, joined
from fictl.errors import FictlError, UsageError
from fictl.jit.flags import current_variant
from fictl.jit.progress import BuildObserver
from fictl.jit.store.entry import MANIFEST, Entry
from fictl.jit.store.shareable import unshareable, unshared_variant
from fictl.jit.store.staging import publish
from fictl.jit.store.stores import STORE_FILE, Store, refuse_other
from fictl.jit.store.writing import writing
from fictl.paths import matching
from fictl.version import VERSION

REBUILD = "change the flags that it names, or build it again where compiling is allowed"


@dataclass(frozen=True)
class Shipped:
    """Result for each module.

    replaced: number of builds of earlier sources that were removed.
    kept: other builds in the folder, from earlier runs: module and architectures.
    """

    out: Path
    built: tuple[BuiltModule, ...]
    replaced: int
    kept: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        modules = [built.to_dict() for built in self.built]
        kept = [{"module": module, "archs": archs} for module, archs in self.kept]
        return {
            "out": str(self.out),
            "modules": modules,
            "replaced": self.replaced,
            "kept": kept,
        }


def ship(
    out: Path,
    names: Sequence[str],
    archs: tuple[Arch, ...],
    observer: BuildObserver,
    elsewhere: Callable[[], Sequence[BuiltModule]] = tuple,
) -> Shipped:
    """Build in the cache, then copy to the folder; a failure stops no other module.

    A build for more architectures than asked for is used only where nothing can compile.
    elsewhere: fills the cache with builds of other machines; those of other compilers come along.
    """
    refuse_unshared_variant()
    store = _open(out.absolute())
    others = elsewhere()
    built = joined(building.build(names, archs, observer, exact=True), others)
    results = tuple(_copied(store, module) for module in built)
    replaced = sum(_replace(store, results))
    return Shipped(store.root, results, replaced, tuple(_kept(store, results)))


def refuse_unshared_variant() -> None:
    """Refuse settings that ask for builds which only this machine can use, before any compile."""
    device = settings.DEVICE.get()
    variant = current_variant(device)
    if reason := unshared_variant(device, variant):
        raise UsageError(
            f"the settings ask for {variant} builds, which are not shipped: {reason}",
            "unset FICTL_JIT_DEBUG, FICTL_JIT_LINEINFO, FICTL_JIT_PROFILE and FICTL_EMU_CHECK",
        )


def _open(root: Path) -> Store:
    """Open the folder as a store; a folder with other contents is refused."""
    refuse_other(root)
    with writing(root):
        root.mkdir(parents=True, exist_ok=True)
        (root / STORE_FILE).write_text(json.dumps({"fictl": VERSION}) + "\n", encoding="utf-8")
    return Store(root, prebuilt=True)


def refuse_links(root: Path, module_dir: Path) -> None:
    """Refuse a link below the folder, which would lead writes or removals out of it."""
    for place in (module_dir, *module_dir.parents):
        if place == root:
            return
        if os.path.islink(place):
            raise UsageError(f"{place} is a link, which leads out of {root}", "remove the link")


def _copied(store: Store, built: BuiltModule) -> BuiltModule:
    """Copy the module and its manifest, without logs and build files: they hold paths from here."""
    if built.error:
        return built
    source = Entry.read(Path(built.path))
    if reason := unshareable(source):
        error = FictlError(f"{built.module} is not shipped: {reason}", REBUILD)
        return replace(built, error=error)
    module_dir = store.module_dir(built.project, built.module)
    refuse_links(store.root, module_dir)
    staging = module_dir / f".{secrets.token_hex(8)}"
    with writing(store.root):
        staging.mkdir(parents=True)
        try:
            for name in (*source.manifest.files, MANIFEST):
                shutil.copy2(source.path / name, staging / name)
            entry = publish(staging, module_dir / built.recipe / built.build)
        finally:
            with suppress(OSError):
                rooted.remove(store.root, staging)
    return replace(built, path=str(entry.path))


def _replace(store: Store, results: Iterable[BuiltModule]) -> Iterable[int]:
    """Remove builds of recipes that a module no longer has, once all its builds are there."""
    recipes: dict[tuple[str, str], set[str]] = {}
    for built in results:
        recipes.setdefault((built.project, built.module), set()).add(built.recipe)
    for (project, module), current in recipes.items():
        if "" in current:  # One of them failed: the build before is better than none.
            continue
        for old in matching(store.module_dir(project, module), "*"):
            if old.name not in current and not os.path.islink(old):
                with suppress(OSError):
                    rooted.remove(store.root, old)
                    yield 1


def _kept(store: Store, results: Sequence[BuiltModule]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Builds of the same modules from earlier runs."""
    current = {Path(built.path) for built in results}
    for project, module in dict.fromkeys((built.project, built.module) for built in results):
        for entry in store.entries(project, module):
            if entry.path not in current:
                yield module, entry.manifest.archs
