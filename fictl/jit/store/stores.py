"""Stores of finished builds: one writable cache, then read-only ones; readers take no lock."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fictl import settings
from fictl.errors import SetupError
from fictl.jit.store.entry import Corrupt, Entry
from fictl.log import logger, warn_once
from fictl.paths import cache_root

LAYOUT = "v1"
STORE_FILE = "store.json"


@dataclass(frozen=True)
class Store:
    """A folder `<root>/v1/<project>/<module>/<recipe>/<build>/`."""

    root: Path
    writable: bool = False
    prebuilt: bool = False

    def module_dir(self, project: str, module: str) -> Path:
        return self.root / LAYOUT / project / module

    def recipe_dir(self, project: str, module: str, recipe: str) -> Path:
        return self.module_dir(project, module) / recipe

    def find(
        self, project: str, module: str, recipe: str, fits: Callable[[Entry], bool]
    ) -> Entry | None:
        """The newest valid entry that fits; corrupt ones are set aside and reported."""
        for entry in self._newest_first(self.recipe_dir(project, module, recipe)):
            if not fits(entry):
                continue
            try:
                entry.verify()
            except Corrupt as error:
                self._set_aside(entry.path, error)
                continue
            return entry
        return None

    def entries(self, project: str, module: str) -> list[Entry]:
        """Every committed entry of a module, newest first; unreadable ones are left out."""
        found = []
        for path in _folders(self.module_dir(project, module)):
            for build in _folders(path):
                with suppress(Corrupt):
                    entry = Entry.read(build)
                    # Why: a build that was killed before its rename lies in staging, complete.
                    if entry.manifest.build == build.name:
                        found.append(entry)
        return sorted(found, key=lambda entry: entry.manifest.created, reverse=True)

    def _newest_first(self, folder: Path) -> list[Entry]:
        found = []
        for path in _folders(folder):
            try:
                found.append(Entry.read(path))
            except Corrupt as error:
                self._set_aside(path, error)
        return sorted(found, key=lambda entry: entry.manifest.created, reverse=True)

    def _set_aside(self, path: Path, error: Corrupt) -> None:
        if not self.writable:
            warn_once(f"corrupt build {path} in a read-only store is passed over: {error}")
            return
        name = f"{path.parent.name}-{path.name}-{secrets.token_hex(4)}"
        aside = self.root / LAYOUT / ".quarantine" / name
        try:
            aside.parent.mkdir(parents=True, exist_ok=True)
            os.rename(path, aside)
        except FileNotFoundError:
            return  # Another process was first,
        except OSError as reason:
            shutil.rmtree(path, ignore_errors=True)
            if os.path.exists(path):
                why = f"{error}; it cannot be removed: {reason.strerror}"
                warn_once(f"corrupt build {path} is passed over: {why}")
                return
        if Entry.whole(aside):  # or even has built it again since this one looked.
            with suppress(OSError):
                os.rename(aside, path)
            return
        logger().warning(
            "corrupt build %s (%s): moved to %s, to be built again", path, error, aside
        )

    def ensure_private(self) -> None:
        """Create the writable store for its user alone; refuse one that others can write."""
        top = self.root / LAYOUT
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            top.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise SetupError(
                f"cannot create the cache {top}: {error.strerror}",
                f"set {settings.WORKSPACE_BASE.name} to a folder that you can write",
            ) from error
        self.check_private()

    def check_private(self) -> None:
        top = self.root / LAYOUT
        try:
            info = top.stat()
        except OSError:  # Nothing is read from there, and who writes says what is wrong.
            return
        open_to = "others" if info.st_mode & stat.S_IWOTH else "its group"
        if info.st_mode & (stat.S_IWOTH | stat.S_IWGRP):
            raise SetupError(
                f"the cache {top} can be written by {open_to}; a loaded module is code",
                f"chmod 700 '{top}', or set {settings.WORKSPACE_BASE.name} to a folder of your own",
            )
        if info.st_uid != os.geteuid():
            raise SetupError(
                f"the cache {top} belongs to user {info.st_uid}, you are user {os.geteuid()}",
                f"set {settings.WORKSPACE_BASE.name} to a folder of your own",
            )


def writable_store() -> Store:
    return Store(cache_root(), writable=True)


def stores() -> Iterator[Store]:
    """In the order of lookup. A prebuilt store of another version of fictl is refused."""
    cache = writable_store()
    cache.check_private()
    yield cache
    for root in settings.STORES.get():
        store = _read_only(root)
        if store is not None:
            yield store


def _read_only(root: Path) -> Store | None:
    try:
        written_by = json.loads((root / STORE_FILE).read_text(encoding="utf-8"))["fictl"]
    except FileNotFoundError:
        return Store(root)
    except (OSError, ValueError, KeyError, TypeError) as error:
        warn_once(f"store {root} is passed over: unreadable {STORE_FILE} ({error!r})")
        return None
    from fictl.version import VERSION

    if written_by != VERSION and not settings.DISABLE_VERSION_CHECK.get():
        warn_once(
            f"store {root} is passed over: fictl {written_by} wrote it, this is {VERSION} "
            f"({settings.DISABLE_VERSION_CHECK.name}=1 uses it all the same)"
        )
        return None
    return Store(root, prebuilt=True)


def _folders(path: Path) -> list[Path]:
    try:
        return [child for child in path.iterdir() if os.path.isdir(child)]
    except OSError:
        return []
