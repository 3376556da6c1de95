"""Stores of finished builds: one writable cache, then read-only ones; readers take no lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fictl import private_folder, rooted, settings
from fictl.errors import SetupError, UsageError
from fictl.jit.store.entry import Corrupt, Entry, Newer, Unusable
from fictl.jit.store.installed import installed_stores, unsafe
from fictl.log import logger, warn_once
from fictl.paths import artifacts_dir, cache_root

LAYOUT = "v1"
STORE_FILE = "store.json"


@dataclass(frozen=True)
class Store:
    """A folder `<root>/v1/<project>/<module>/<recipe>/<build>/`.

    A `prebuilt` one serves every toolchain. No version of fictl is compared: keys are of content.
    Files of one that is not `hashed` are compared with their manifest by size alone.
    An `installed` one came with a wheel, so that nobody but an installer writes there.
    """

    root: Path
    writable: bool = False
    prebuilt: bool = False
    hashed: bool = True
    installed: bool = False

    def module_dir(self, project: str, module: str) -> Path:
        return self.root / LAYOUT / project / module

    def recipe_dir(self, project: str, module: str, recipe: str) -> Path:
        return self.module_dir(project, module) / recipe

    def find(
        self, project: str, module: str, recipe: str, fits: Callable[[Entry], bool]
    ) -> Entry | None:
        """Return the newest valid entry that fits; corrupt ones are moved aside and reported."""
        if self.writable:
            self.check_private(project, module, recipe)
        for entry in self._newest_first(self.recipe_dir(project, module, recipe)):
            if not fits(entry):
                continue
            if self.installed and (why := unsafe(self.root, entry.path)):
                warn_once(f"build {entry.path} is passed over: {why}")
                continue
            if self.writable:
                self.check_private(project, module, recipe, entry.path.name)
            try:
                entry.verify(hashed=self.hashed)
            except Corrupt as error:
                self._set_aside(entry.path, error)
                continue
            return entry
        return None

    def entries(self, project: str, module: str, recipe: str = "") -> list[Entry]:
        """Return every committed entry of a module, or of one recipe, newest first, that can be read
        and used.
        """
        module_dir, entries = self.module_dir(project, module), []
        for path in [module_dir / recipe] if recipe else _folders(module_dir):
            for build in _folders(path):
                with suppress(Unusable):
                    entry = Entry.read(build)
                    # Why: a build killed just before its rename lies in staging, complete.
                    if entry.manifest.build == build.name:
                        entries.append(entry)
        return sorted(entries, key=lambda entry: entry.manifest.created, reverse=True)

    def _newest_first(self, folder: Path) -> list[Entry]:
        entries = []
        for path in _folders(folder):
            try:
                entries.append(Entry.read(path))
            except Newer as error:
                logger().debug("%s is passed over: %s", path, error)
            except Corrupt as error:
                self._set_aside(path, error)
        return sorted(entries, key=lambda entry: entry.manifest.created, reverse=True)

    def _set_aside(self, path: Path, error: Corrupt) -> None:
        import secrets

        if not self.writable:
            warn_once(f"corrupt build {path} in a read-only store is passed over: {error}")
            return
        name = f"{path.parent.name}-{path.name}-{secrets.token_hex(4)}"
        aside = self.root / LAYOUT / ".quarantine" / name
        try:
            private_folder.make(self.root, LAYOUT, ".quarantine")
            rooted.move(self.root, path, aside)
        except FileNotFoundError:
            return  # Another process was first,
        except (OSError, SetupError) as failed:
            reason = getattr(failed, "strerror", "") or str(failed)
            with suppress(OSError):
                rooted.remove(self.root, path)
            if os.path.exists(path):
                why = f"{error}; it cannot be removed: {reason}"
                warn_once(f"corrupt build {path} is passed over: {why}")
                return
        if Entry.whole(aside):  # or has even built it again since the check.
            with suppress(OSError):
                os.rename(aside, path)
            return
        logger().warning(
            "corrupt build %s (%s): moved to %s, to be built again", path, error, aside
        )

    def ensure_private(self, *module: str) -> None:
        """Create the writable store, and the folder of a module (project, name), for its user alone;
        refuse one that others can write.
        """
        try:
            private_folder.make(self.root, LAYOUT, *module)
        except OSError as error:
            raise SetupError(
                f"cannot create the cache {self.root / LAYOUT}: {error.strerror}",
                f"set {settings.WORKSPACE_BASE.name} to a folder that you can write",
            ) from error

    def check_ours(self) -> None:
        """Refuse a folder in the cache that others can write; one elsewhere is what the user chose."""
        if self.root.parent == cache_root():
            private_folder.check(cache_root(), self.root.name)

    def check_private(self, *parts: str) -> None:
        """Refuse folders that others can write, from the root to a module, a recipe or a build."""
        private_folder.check(self.root, LAYOUT, *parts)


def writable_store() -> Store:
    return Store(cache_root(), writable=True)


def stores() -> Iterator[Store]:
    """Yield stores in the order of lookup: the cache, FICTL_STORES, wheels."""
    cache = writable_store()
    cache.check_private()
    yield cache
    for root in settings.STORES.get():
        yield Store(root, prebuilt=os.path.isfile(root / STORE_FILE))
    yield from _of_wheels()
    artifacts = artifacts_store()
    if os.path.isfile(artifacts.root / STORE_FILE):
        artifacts.check_ours()
        yield artifacts


def artifacts_store() -> Store:
    """Return the store of artifacts, which is read-only for every lookup; it need not exist."""
    hashed = not settings.ARTIFACTS_CHECKSUM_DISABLED.get()
    return Store(artifacts_dir(), prebuilt=True, hashed=hashed)


def refuse_other(root: Path) -> None:
    """Refuse a folder with contents that fictl did not put there, so that it becomes no store."""
    other = os.path.exists(root) and (not os.path.isdir(root) or any(root.iterdir()))
    # Why the mark comes last: another run may make the store meanwhile, and begins with the mark.
    if other and not os.path.isfile(root / STORE_FILE):
        raise UsageError(
            f"{root} holds something that fictl did not put there",
            "name a folder that is empty, or does not exist yet",
        )


def _of_wheels() -> Iterator[Store]:
    for wheel in installed_stores():
        if wheel.problem:
            warn_once(f"the prebuilt modules of {wheel} are passed over: {wheel.problem}")
        else:
            yield Store(wheel.root, prebuilt=True, installed=True)


def _folders(path: Path) -> list[Path]:
    try:
        return [child for child in path.iterdir() if os.path.isdir(child)]
    except OSError:
        return []
