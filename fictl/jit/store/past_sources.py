"""The text of every source that was built, by hash, so that `cache explain` can name lines."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

from fictl.jit.store.stores import LAYOUT
from fictl.paths import write_atomic
from fictl.user_file import read_bytes

FOLDER = ".sources"


def folder(root: Path) -> Path:
    return root / LAYOUT / FOLDER


def keep(root: Path, inputs: dict[str, str], paths: dict[str, Path]) -> None:
    """Keep what is not kept yet. A full disk costs a later explanation, not this build."""
    kept = folder(root)
    with suppress(OSError, UnicodeDecodeError):
        kept.mkdir(parents=True, exist_ok=True)
        for name, sha256 in inputs.items():
            if not (kept / sha256).exists():
                _keep(paths[name], kept / sha256)


def recall(root: Path, sha256: str) -> str | None:
    try:
        return (folder(root) / sha256).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _keep(path: Path, target: Path) -> None:
    data = read_bytes(path)
    # Why: it may have been edited since it was hashed.
    if hashlib.sha256(data).hexdigest() == target.name:
        write_atomic(target, data.decode())
