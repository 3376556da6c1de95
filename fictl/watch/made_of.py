"""The files that ops depend on: their places and contents."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fictl.builds.changed import files_of
from fictl.errors import FictlError
from fictl.paths import files_below, real
from fictl.project import OpFolder, Project, find
from fictl.project.config import OWN_FILE, SHARED_FILE
from fictl.user_file import read_bytes
from fictl.watch.leftovers import is_leftover


@dataclass
class MadeOf:
    """Files of ops. A new file belongs to them as soon as they include or import it."""

    folders: Sequence[OpFolder]
    _known: set[Path] = field(default_factory=set)

    def places(self) -> dict[Path, bool]:
        """The folders to watch, and whether to include subfolders.

        Some may not exist yet, such as the one of the first test. A header in none of them is
        watched by its own folder.
        """
        places: dict[Path, bool] = {}
        folders = _with_used(self.folders)
        for folder in folders:
            project = folder.project
            deep = (folder.path.parent, project.include, folder.test.parent)
            places |= {real(place): True for place in deep}
        for folder in folders:
            for flat in (folder.project.root, folder.project.tests):
                places.setdefault(real(flat), False)
        for path in self._files():
            if not any(place == path.parent or place in path.parents for place in places):
                places[path.parent] = False
        return places

    def contents(self) -> dict[Path, str]:
        """Digest of each file: equal contents mean no edit, whatever the file's time is."""
        return {path: digest for path in self._files() if (digest := _digest(path))}

    def _files(self) -> set[Path]:
        files: set[Path] = set()
        try:
            for folder in _with_used(self.folders):
                files.update(_beside(folder))
                files.update(files_of(folder))
        except (FictlError, OSError):
            # A file vanished during the read: the dependencies stay as before.
            files |= self._known
        self._known = files
        return files


def _with_used(folders: Sequence[OpFolder]) -> list[OpFolder]:
    """Add the folders of the ops that these ops declare to call."""
    pending, reached = list(folders), list[OpFolder]()
    while pending:
        folder = pending.pop()
        if folder not in reached:
            reached.append(folder)
            pending += _used(folder)
    return reached


def _used(folder: OpFolder) -> list[OpFolder]:
    projects = (folder.project, Project.shipped())
    try:
        names = [name for declaration in folder.declarations() for name in declaration.uses]
        return [used for name in names for used in find(name, projects)]
    except (FictlError, OSError):  # It is being edited, or wrong: a build says how.
        return []


def _beside(folder: OpFolder) -> Iterator[Path]:
    """Files known without reading any: all in the op's folder, and those shared by project and
    tests.
    """
    own, project = real(folder.path), folder.project
    yield from (path for path in files_below(own) if not is_leftover(path, own))
    yield from (place / "conftest.py" for place in (project.tests, folder.test.parent))
    settings = (project.root / name for name in (OWN_FILE, SHARED_FILE))
    yield from [path for path in settings if os.path.isfile(path)][:1]


def _digest(path: Path) -> str:
    """Hash of a file; '' if it cannot be read."""
    try:
        return hashlib.sha256(read_bytes(path)).hexdigest()
    except OSError:
        return ""
