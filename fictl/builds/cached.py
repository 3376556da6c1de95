"""The build cache by names of ops: the library of `fictl cache`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fictl.arch import Arch
from fictl.builds.building import specs_of
from fictl.errors import UsageError
from fictl.jit.cache.explain import BuildVerdict, explain
from fictl.jit.cache.integrity import Integrity, check_store
from fictl.jit.cache.inventory import Item, builds, inventory, modules
from fictl.jit.cache.removal import Removal, clear
from fictl.jit.store.stores import stores
from fictl.paths import cache_root
from fictl.project import find


@dataclass(frozen=True)
class Contents:
    """Builds of all stores, and the bytes of all other items of the cache, by kind."""

    root: str
    builds: tuple[tuple[str, Item], ...]
    others: dict[str, int]
    links: tuple[Item, ...] = ()

    @property
    def size(self) -> int:
        """Bytes in the cache, without read-only stores."""
        ours = (item.size for origin, item in self.builds if origin == "cache")
        return sum(ours) + sum(self.others.values())

    def to_dict(self) -> dict[str, Any]:
        entries = [_entry(origin, item) for origin, item in self.builds]
        links = [{"kind": item.kind, "path": str(item.path)} for item in self.links]
        return {
            "root": self.root,
            "size": self.size,
            "entries": entries,
            "others": self.others,
            "links": links,
        }


def contents(names: Sequence[str] = ()) -> Contents:
    """List the builds of the named ops, or of all ops."""
    listed: list[tuple[str, Item]] = []
    others: dict[str, int] = {}
    links: list[Item] = []
    for store in stores():
        origin = "cache" if store.writable else str(store.root)
        items = inventory(store.root) if store.writable else builds(store.root)
        listed += [(origin, item) for item in items if item.kind == "build"]
        links += [item for item in items if item.leads_out]
        for item in (item for item in items if item.kind != "build" and not item.leads_out):
            others[item.kind] = others.get(item.kind, 0) + item.size
    wanted = chosen(names, {(item.project, item.module) for _, item in listed})
    picked = [(origin, item) for origin, item in listed if (item.project, item.module) in wanted]
    picked.sort(key=lambda pair: pair[1].used, reverse=True)
    return Contents(str(cache_root()), tuple(picked), {} if names else others, tuple(links))


def clear_builds(names: Sequence[str], force: bool, dry_run: bool) -> Removal:
    """Remove the builds of the named ops from the cache; everything, if none is named."""
    root = cache_root()
    if not names:
        return clear(root, force=force, dry_run=dry_run)
    wanted = chosen(names, modules(root))
    return clear(root, lambda item: (item.project, item.module) in wanted, force, dry_run)


def verify(repair: bool) -> Integrity:
    results = [check_store(store, repair) for store in stores()]
    broken = tuple(entry for result in results for entry in result.broken)
    return Integrity(sum(result.checked for result in results), broken)


def explain_ops(names: Sequence[str], archs: tuple[Arch, ...]) -> list[BuildVerdict]:
    """One verdict for each module that a build of these ops would make."""
    return [explain(spec, archs) for spec in specs_of(names)]


def chosen(names: Sequence[str], known: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Find the modules of these names, in the store (which may outlive an op) or among the ops."""
    if not names:
        return known
    return {module for name in names for module in _modules(name, known)}


def _modules(name: str, known: set[tuple[str, str]]) -> set[tuple[str, str]]:
    head, _, rest = name.partition("/")
    for wanted_project, wanted in ((None, name), (head, rest)):
        dotted = wanted.replace("/", ".")
        matching = {
            (project, module)
            for project, module in known
            if wanted_project in (None, project)
            and (module == dotted or wanted in module.split("."))
        }
        if matching:
            return matching
    try:
        return {(folder.project.name, folder.key) for folder in find(name)}
    except UsageError as error:
        raise UsageError(
            error.message, f"{error.hint}; fictl cache show lists what is cached"
        ) from None


def _entry(origin: str, item: Item) -> dict[str, Any]:
    manifest = item.entry.manifest if item.entry else None
    return {
        "project": item.project,
        "module": item.module,
        "archs": list(manifest.archs) if manifest else [],
        "variant": manifest.variant if manifest else None,
        "device": manifest.device if manifest else None,
        "size": item.size,
        "created": manifest.created if manifest else None,
        "last_used": item.used,
        "in_use": item.in_use,
        "origin": origin,
        "corrupt": manifest is None and not item.newer,
        "newer": item.newer,
        "recipe": item.path.parent.name,
        "build": item.path.name,
        "path": str(item.path),
    }
