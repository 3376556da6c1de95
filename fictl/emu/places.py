"""Folders of this machine by the names that stand for them in the debug info of a build.

The folders of the spec that was loaded come first: another checkout may have compiled its build.
Beside a build that was compiled here lies a list of all; one that was shipped has none.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

PLACES = "places.json"

Named = Iterable[tuple[str, str]]

_builds: dict[Path, Callable[[], Named]] = {}


def write(build: Path, places: Named) -> None:
    """Write the list, (name, folder) in order, into a build's folder."""
    (build / PLACES).write_text(json.dumps(list(places)) + "\n", encoding="utf-8")


def remember(build: Path, folders: Callable[[], Named] = tuple) -> None:
    """Search this build's folders from now on, before those of earlier ones.

    `folders` lists those of the spec that it was loaded for, the most specific last.
    """
    _builds.pop(build, None)
    _builds[build] = folders


def true_path(name: str, module: str = "") -> str:
    """Return the file that a name in the debug info stands for; the name itself if none is known.

    `module` is the library with that debug info, if known.
    """
    if os.path.isabs(name):
        return name
    relative = name.removeprefix("./")  # The folder of the compiler, which a reader puts before.
    for build in (*([Path(module).parent] if module else []), *reversed(_builds)):
        for start, folder in (*_of_spec(build), *_read(build)):
            path = _below(build, relative, start, folder)
            if path and os.path.isfile(path):
                return os.path.normpath(path)
    return name


def _of_spec(build: Path) -> list[tuple[str, str]]:
    """List the folders of the spec that a build was loaded for, the most specific first."""
    return list(_builds.get(build, tuple)())[::-1]


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
