"""Source folders in debug info, matched with folders here that hold the same files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

# Number of last parts of a path that two copies of one folder share.
_ALIKE = 3


def moved(modules: Iterable[Path], folders: Iterable[Path]) -> dict[Path, Path]:
    """Map folders in the modules' debug info to their copies here.

    A build in the cache may be from another checkout, whose files may be gone or changed.
    """
    wanted = [*folders]
    copies: dict[Path, Path] = {}
    for data in (module.read_bytes() for module in modules):
        for folder in wanted:
            copies |= {old: folder for old in _named(data, folder) if old != folder}
    return copies


def _named(data: bytes, folder: Path) -> set[Path]:
    tail = "/".join(folder.parts[-_ALIKE:]).encode()
    names = re.findall(rb"(?<=\0)/[^\0\n]*/" + re.escape(tail) + rb"(?=\0)", data)
    return {Path(name.decode(errors="replace")) for name in names}
