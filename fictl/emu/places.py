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
    for build in (*([Path(module).parent] if module else []), *_builds):
        for start, folder in _read(build):
            path = os.path.join(build if start == "." else folder, _rest(name, start))
            if os.path.isfile(path) and _begins(name, start):
                return os.path.normpath(path)
    return name


def _begins(name: str, start: str) -> bool:
    return start == "." or name.startswith(f"{start}/")


def _rest(name: str, start: str) -> str:
    return name.removeprefix("./") if start == "." else name[len(start) + 1 :]


@lru_cache(64)
def _read(build: Path) -> tuple[tuple[str, str], ...]:
    """Return the list with the most specific names first; empty if there is none."""
    try:
        pairs = json.loads((build / PLACES).read_text(encoding="utf-8"))
        return tuple((str(name), str(folder)) for name, folder in reversed(pairs))
    except (OSError, ValueError, TypeError):
        return ()
