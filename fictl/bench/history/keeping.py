"""Places that keep histories: files of the working tree, or a branch (branch_history.py)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fictl.bench.stored import FOLDER
from fictl.errors import UsageError, unreadable
from fictl.paths import friendly, matching, write_atomic
from fictl.project import Project
from fictl.user_file import read_text

SUFFIX = ".jsonl"
LARGEST = 64 << 20

Change = Callable[[str], str]


class HistoryKeeping(Protocol):
    """Files of JSON lines by path, as `h200-1980/rmsnorm.jsonl`."""

    @property
    def label(self) -> str: ...

    def read(self) -> dict[str, str]: ...

    def write(self, changes: Mapping[str, Change], message: str) -> None: ...


@dataclass(frozen=True)
class FolderHistory:
    """Files below `benchmarks/` of the working tree, to be committed by their author."""

    project: Project

    @property
    def _folder(self) -> Path:
        return self.project.root / FOLDER

    @property
    def label(self) -> str:
        return friendly(self._folder)

    def read(self) -> dict[str, str]:
        paths = matching(self._folder, f"*/*{SUFFIX}")
        return {path.relative_to(self._folder).as_posix(): _text(path) for path in paths}

    def write(self, changes: Mapping[str, Change], message: str) -> None:
        for name, change in changes.items():
            path = self._folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, change(_text(path) if os.path.lexists(path) else ""))


def _text(path: Path) -> str:
    try:
        return read_text(path, largest=LARGEST)
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError):
            raise unreadable(path, error) from error
        raise UsageError(f"{path} cannot be read: it is not UTF-8 text") from error
