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
    """Fetch the unit's object if it exists undamaged; its file name has its hash."""
    with suppress(FileNotFoundError):  # A process that clears the cache was faster.
        for path in matching(folder, f"{unit.key}.*.o"):
            if is_whole(path):
                _link_or_copy(path, into / unit.object)
                with suppress(OSError):
                    os.utime(path)  # mtime is last use, for eviction.
                return True
            path.unlink(missing_ok=True)
    return False


def is_whole(path: Path) -> bool:
    return sha256(path)[:16] == path.name.split(".")[-2]


def keep(folder: Path, unit: Unit, built: Path) -> None:
    """Publish by rename; a second writer of the same key does no harm."""
    target = folder / f"{unit.key}.{sha256(built)[:16]}.o"
    temporary = folder / f".{unit.key}.{secrets.token_hex(4)}"
    with suppress(FileNotFoundError):  # A process that clears the cache removes empty folders.
        private_folder.make_within(folder)
        _link_or_copy(built, temporary)
        os.replace(temporary, target)
        # Why: if both names are already links to one file, the rename does nothing.
        temporary.unlink(missing_ok=True)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
