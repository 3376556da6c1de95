"""Folders of this machine by the names that stand for them in the debug info of a build.

Beside a build that was compiled here lies a list of them; one that was shipped has none.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

PLACES = "places.json"

_builds: list[Path] = []


def write(build: Path, places: Iterable[tuple[str, str]]) -> None:
    """Write the list, (name, folder) in order, into a build's folder."""
    (build / PLACES).write_text(json.dumps(list(places)) + "\n", encoding="utf-8")


def remember(build: Path) -> None:
    """Search this build's folders from now on, before those of earlier ones."""
    if build not in _builds:
        _builds.insert(0, build)


def true_path(name: str, module: str = "") -> str:
    """Return the file that a name in the debug info stands for; the name itself if none is known.

    `module` is the library with that debug info, if known.
    """
    if os.path.isabs(name):
        return name
    relative = name.removeprefix("./")  # The folder of the compiler, which a reader puts before.
    for build in (*([Path(module).parent] if module else []), *_builds):
        for start, folder in _read(build):
            path = _below(build, relative, start, folder)
            if path and os.path.isfile(path):
                return os.path.normpath(path)
    return name


def _below(build: Path, name: str, start: str, folder: str) -> str:
    """Return the path of a name below one place; '' if it does not begin with that place's."""
    if start == ".":
        return os.path.join(build, name)
    return os.path.join(folder, name[len(start) + 1 :]) if name.startswith(f"{start}/") else ""


@lru_cache(64)
def _read(build: Path) -> tuple[tuple[str, str], ...]:
    """Return the list with the most specific names first; empty if there is none."""
    try:
        pairs = json.loads((build / PLACES).read_text(encoding="utf-8"))
        return tuple((str(name), str(folder)) for name, folder in reversed(pairs))
    except (OSError, ValueError, TypeError):
        return ()
