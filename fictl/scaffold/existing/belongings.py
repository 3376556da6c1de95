"""The files in an op's folder, and those that belong to the op: they are moved or deleted with it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from fictl.errors import UsageError
from fictl.paths import files_below
from fictl.project import OpFolder
from fictl.scaffold import record
from fictl.user_file import read_text


def own_files(folder: OpFolder) -> tuple[Path, ...]:
    """Those of the layout, those in its folder that one of them names, as a plan.py, and its record."""
    known = [path for _, path in folder.files()]
    others = [path for path in _lying_in(folder.path) if path not in known]
    for path in known:
        text = read_text(path, errors="replace")
        named = [other for other in others if _is_named(other, text)]
        known += named
        others = [other for other in others if other not in named]
    return tuple(known) + tuple(path for path in others if path == record.place(folder))


def other_files(folder: OpFolder) -> tuple[Path, ...]:
    """Files in its folder that do not belong to it."""
    known = own_files(folder)
    return tuple(path for path in _lying_in(folder.path) if path not in known)


def text_of(path: Path) -> str:
    try:
        return read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}", "is it a text file of yours?") from error


def _lying_in(folder: Path) -> list[Path]:
    """List the files below a folder, except Python's caches."""
    files = (path for path in files_below(folder) if os.path.isfile(path))
    return [path for path in files if "__pycache__" not in path.relative_to(folder).parts]


def _is_named(path: Path, text: str) -> bool:
    if path.suffix != ".py":
        return path.name in text
    stem = re.escape(path.stem)
    return bool(re.search(rf"^\s*from \.({stem}\b| import .*\b{stem}\b)", text, re.MULTILINE))
