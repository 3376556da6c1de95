"""A folder of the cache with a record in it that names every other file, and their hashes."""

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
    """Write the record, of this data and of all that lies in the folder."""
    files = {str(path.relative_to(folder)): sha256(path) for path in files_below(folder)}
    (folder / RECORD).write_text(seal({**data, _FILES: files}), encoding="utf-8")


def read(folder: Path) -> dict[str, Any]:
    """The data; Corrupt if anything in the folder is not as it was written."""
    try:
        data = unseal(rooted.read(folder / RECORD))
        for name, told in data.pop(_FILES).items():
            if sha256(folder / name) != told:
                raise Corrupt(f"{name} has other bytes than were written")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Corrupt(f"{RECORD}: {getattr(error, 'strerror', None) or error}") from error
    return data
