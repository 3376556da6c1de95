"""Source folders that a build names, and the folders with the same bytes here."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

# So many of its last parts make a folder the same one.
_ALIKE = 3


def moved(modules: Iterable[Path], folders: Iterable[Path]) -> dict[Path, Path]:
    """Folders in the debug info of the modules -> those of these that they are a copy of.

    A build from the cache may be of another checkout, in which the files are gone by now, or others.
    """
    wanted = [*folders]
    places: dict[Path, Path] = {}
    for data in (module.read_bytes() for module in modules):
        for folder in wanted:
            places |= {old: folder for old in _named(data, folder) if old != folder}
    return places


def _named(data: bytes, folder: Path) -> set[Path]:
    tail = "/".join(folder.parts[-_ALIKE:]).encode()
    names = re.findall(rb"(?<=\0)/[^\0\n]*/" + re.escape(tail) + rb"(?=\0)", data)
    return {Path(name.decode(errors="replace")) for name in names}
