"""The text of every built source, by hash, so that `cache explain` can name lines."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from fictl import private_folder, rooted
from fictl.jit.store.stores import LAYOUT
from fictl.paths import write_atomic
from fictl.user_file import read_bytes

FOLDER = ".sources"


def folder(root: Path) -> Path:
    return root / LAYOUT / FOLDER


def keep(root: Path, inputs: dict[str, str], paths: dict[str, Path]) -> None:
    """Store texts that are missing. A full disk costs a later explanation, not this build."""
    kept = folder(root)
    with suppress(OSError, UnicodeDecodeError):
        private_folder.make(root, LAYOUT, FOLDER)
        for name, sha256 in inputs.items():
            if not os.path.exists(kept / sha256):
                _keep(paths[name], kept / sha256)


def recall(root: Path, sha256: str) -> str | None:
    try:
        data = rooted.read(folder(root) / sha256)
        return data.decode() if is_whole(sha256, data) else None
    except (OSError, UnicodeDecodeError):
        return None


def is_whole(name: str, data: bytes) -> bool:
    """True if the data has the hash in its name."""
    return hashlib.sha256(data).hexdigest() == name


def _keep(path: Path, target: Path) -> None:
    data = read_bytes(path)
    # Why: the file may have been edited since it was hashed.
    if is_whole(target.name, data):
        write_atomic(target, data.decode())
