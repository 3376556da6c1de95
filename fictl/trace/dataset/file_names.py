"""File names for documents: a document's name may contain what a file name cannot."""

from __future__ import annotations

import hashlib
import re
from pathlib import PurePosixPath

# In bytes: file systems allow 255, including a suffix.
_LONGEST, _READABLE = 200, 40
_STAND_IN = re.compile(r"~[0-9a-f]{16}$")


def file_name(name: str) -> str:
    """Return the name itself if it can be a file name, as in flashinfer-bench.

    Otherwise a substitute of its letters and a hash. It never equals another document's file name,
    and never leads to another folder.
    """
    if _is_plain(name):
        return name
    readable = re.sub(r"[^A-Za-z0-9_+-]+", "_", name)[:_READABLE].strip("_")
    return f"{readable}~{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def stems(name: str) -> tuple[str, ...]:
    """File stems that may hold lines of a definition: ours, and what others write for a name with
    /.
    """
    return tuple(dict.fromkeys((file_name(name), PurePosixPath(name).name)))


def _is_plain(name: str) -> bool:
    return (
        name.strip() == name
        and not name.startswith(".")
        and not {"/", "\\", "\0"} & {*name}
        and len(name.encode()) <= _LONGEST
        and not _STAND_IN.search(name)
    )
