"""Removal of items from the cache, so that no reader ever sees half a build."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fictl import private_folder, rooted
from fictl.errors import SetupError
from fictl.jit.cache.inventory import TRASH, Item, inventory
from fictl.jit.store.staging import STAGING
from fictl.jit.store.stores import LAYOUT
from fictl.jit.store.use import claimed

# Kinds that nobody can use any more, whatever their age; then kinds not to be chosen by age.
_GARBAGE = ("staging", "quarantine", "trash")
_AGELESS = ("memo", "lock", "source")


@dataclass(frozen=True)
class Removal:
    """Items removed (or that would be), items kept because they are in use, and bytes left.

    `links` lead out of the cache and are not followed.
    """

    removed: tuple[Item, ...]
    kept: tuple[Item, ...]
    left: int
    links: tuple[Item, ...] = ()

    @property
    def freed(self) -> int:
        return sum(item.size for item in self.removed)


def clear(
    root: Path,
    wanted: Callable[[Item], bool] = lambda item: True,
    force: bool = False,
    dry_run: bool = False,
) -> Removal:
    """Remove all `wanted` items; items in use only with `force`."""
    items = inventory(root)
    ours = (item for item in items if item.kind != "source" and not item.leads_out)
    picked = [item for item in ours if wanted(item)]
    return _remove(root, items, picked, force, dry_run)


def gc(
    root: Path, max_size: int | None = None, older_than: float | None = None, dry_run: bool = False
) -> Removal:
    """Remove garbage, then items unused for `older_than` seconds, then the least recently used.

    The last step stops once the rest fits `max_size`.
    """
    items = inventory(root)
    limit = time.time() - older_than if older_than is not None else 0.0
    left = sum(item.size for item in items)
    picked = []
    ours = (item for item in items if not item.leads_out)
    for item in sorted(ours, key=lambda item: (item.kind not in _GARBAGE, item.used)):
        too_old = item.used < limit or (max_size is not None and left > max_size)
        if item.kind in _GARBAGE or (item.kind not in _AGELESS and too_old):
            picked.append(item)
            left -= 0 if item.in_use else item.size
    return _remove(root, items, picked, False, dry_run)


def _remove(
    root: Path, items: list[Item], picked: list[Item], force: bool, dry_run: bool
) -> Removal:
    going = [item for item in picked if force or not item.in_use]
    going += _unreferenced(items, {item.path for item in going})
    removed = [item for item in going if dry_run or _take_away(root, item, force)]
    gone = {item.path for item in removed}
    # In use, or loaded by another process since the check.
    kept = [item for item in picked if item.path not in gone]
    if not dry_run:
        _prune(root, removed)
    left = sum(item.size for item in items if item.path not in gone)
    links = tuple(item for item in items if item.leads_out)
    return Removal(tuple(removed), tuple(kept), left, links)


def _unreferenced(items: list[Item], going: set[Path]) -> list[Item]:
    """Return the kept source texts that no remaining build was made from."""
    if any(item.newer and item.path not in going for item in items):
        return []  # It may have been made from any of them.
    staying = [item.entry for item in items if item.entry and item.path not in going]
    named = {sha256 for entry in staying for sha256 in entry.manifest.inputs.values()}
    return [item for item in items if item.kind == "source" and item.path.name not in named]


def _take_away(root: Path, item: Item, force: bool) -> bool:
    if item.kind != "build":
        return _delete(root, item.path)
    with claimed(item.path) as ours:
        if not (ours or force):
            return False
        aside = root / LAYOUT / TRASH / secrets.token_hex(8)
        with suppress(OSError):
            private_folder.make(root, LAYOUT, TRASH)
            rooted.move(root, item.path, aside)
            return _delete(root, aside)
        return _delete(root, item.path)


def _delete(root: Path, path: Path) -> bool:
    try:
        rooted.remove(root, path)
    except FileNotFoundError:
        pass  # Removed by another process.
    except OSError as error:
        raise SetupError(
            f"cannot remove {path}: {error.strerror}", "can you write to this cache?"
        ) from error
    return True


def _prune(root: Path, removed: list[Item]) -> None:
    """Remove the folders of modules and projects that are now empty."""
    for item in removed:
        if item.module:
            project = root / LAYOUT / item.project
            module = project / item.module
            for folder in (item.path.parent, module / STAGING, module, project):
                with suppress(OSError):
                    rooted.remove_if_empty(root, folder)
