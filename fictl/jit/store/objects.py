"""Object files by content key, so that an edit recompiles only the affected units."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from fictl import private_folder
from fictl.jit.plan import Unit
from fictl.jit.store.entry import sha256
from fictl.paths import matching


def fetch(folder: Path, unit: Unit, into: Path) -> bool:
    """Fetch what a compile of the unit leaves if all of it exists undamaged; a file's name has its
    hash.
    """
    return all(_fetch(folder, unit, name, into) for name in _left_by(unit))


def keep(folder: Path, unit: Unit, built: Path) -> None:
    """Publish by rename; a second writer of the same key does no harm."""
    with suppress(FileNotFoundError):  # A process that clears the cache removes empty folders.
        private_folder.make_within(folder)
        for name in _left_by(unit):
            _keep(folder, unit, built / name)


def is_whole(path: Path) -> bool:
    return sha256(path)[:16] == path.name.split(".")[-2]


def _left_by(unit: Unit) -> tuple[str, ...]:
    """Return the object, and for a kernel the output of ptxas: the gate reads it at every build."""
    return (unit.object, unit.log) if unit.device else (unit.object,)


def _fetch(folder: Path, unit: Unit, name: str, into: Path) -> bool:
    with suppress(FileNotFoundError):  # A process that clears the cache was faster.
        for path in matching(folder, f"{unit.key}.*{Path(name).suffix}"):
            if is_whole(path):
                _link_or_copy(path, into / name)
                with suppress(OSError):
                    os.utime(path)  # mtime is last use, for eviction.
                return True
            path.unlink(missing_ok=True)
    return False


def _keep(folder: Path, unit: Unit, built: Path) -> None:
    target = folder / f"{unit.key}.{sha256(built)[:16]}{built.suffix}"
    temporary = folder / f".{unit.key}.{secrets.token_hex(4)}"
    _link_or_copy(built, temporary)
    os.replace(temporary, target)
    # Why: if both names are already links to one file, the rename does nothing.
    temporary.unlink(missing_ok=True)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
