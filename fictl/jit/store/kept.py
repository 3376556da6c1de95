"""A folder of the cache with a record of all its other files and their hashes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fictl import rooted
from fictl.jit.store.entry import Corrupt, sha256
from fictl.paths import files_below
from fictl.sealed import seal, unseal

RECORD = "record.json"
_FILES = "files"


def write(folder: Path, data: Mapping[str, Any]) -> None:
    """Write the record: this data, and all files in the folder."""
    files = {str(path.relative_to(folder)): sha256(path) for path in files_below(folder)}
    (folder / RECORD).write_text(seal({**data, _FILES: files}), encoding="utf-8")


def read(folder: Path) -> dict[str, Any]:
    """Return the data; raise Corrupt if a file in the folder has changed."""
    try:
        data = unseal(rooted.read(folder / RECORD))
        for name, told in data.pop(_FILES).items():
            if sha256(folder / name) != told:
                raise Corrupt(f"{name} has other bytes than were written")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Corrupt(f"{RECORD}: {getattr(error, 'strerror', None) or error}") from error
    return data
