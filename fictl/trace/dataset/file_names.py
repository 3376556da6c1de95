"""Names of documents as names of files: a document's name may hold what a file's cannot."""

from __future__ import annotations

import hashlib
import re
from pathlib import PurePosixPath

# Of bytes, with room for an ending below the 255 that file systems allow.
_LONGEST, _READABLE = 200, 40
_STAND_IN = re.compile(r"~[0-9a-f]{16}$")


def file_name(name: str) -> str:
    """The name itself wherever it can be that of a file or folder, as in flashinfer-bench.

    Else a stand-in of its letters and a hash, which is no document's own file name: no two names
    have one, and none leads elsewhere.
    """
    if _is_plain(name):
        return name
    readable = re.sub(r"[^A-Za-z0-9_+-]+", "_", name)[:_READABLE].strip("_")
    return f"{readable}~{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def stems(name: str) -> tuple[str, ...]:
    """The files that may hold lines of a definition: ours, and where others write one with a /."""
    return tuple(dict.fromkeys((file_name(name), PurePosixPath(name).name)))


def _is_plain(name: str) -> bool:
    return (
        name.strip() == name
        and not name.startswith(".")
        and not {"/", "\\", "\0"} & {*name}
        and len(name.encode()) <= _LONGEST
        and not _STAND_IN.search(name)
    )
