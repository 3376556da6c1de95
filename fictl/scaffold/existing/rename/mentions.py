"""Other mentions of an op in a project: prose and notebooks, which are for people to change."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fictl.project import Project
from fictl.scaffold.record import FILE
from fictl.user_file import read_text

_CODE = {".py", ".cu", ".cuh", ".cpp", ".cc", ".h", ".hpp", ".inc"}
_LARGEST = 1 << 20
_MADE = {"build", "dist", "site", "node_modules", "__pycache__"}


@dataclass(frozen=True)
class Mention:
    """A line that has the name in it."""

    path: Path
    line: int
    text: str

    def to_dict(self) -> dict[str, Any]:
        return {"path": str(self.path), "line": self.line, "text": self.text}


def mentions(
    project: Project,
    names: Collection[str],
    planned: Mapping[Path, str | None],
    is_user: Callable[[str], bool],
) -> Iterator[Mention]:
    """Find mentions in the text files of a project, as they are once the `planned` ones are written.

    Of code only that which uses the op: in other code its name is something else's.
    """
    pattern = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, names))})(?!\w)")
    for path in _files(project.top):
        text = planned.get(path, "") if path in planned else _text(path)
        if text and pattern.search(text) and (path.suffix not in _CODE or is_user(text)):
            lines = enumerate(text.splitlines(), 1)
            yield from (Mention(path, n, line.strip()) for n, line in lines if pattern.search(line))


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(n for n in folders if not n.startswith(".") and n not in _MADE)
        yield from (Path(folder, name) for name in sorted(names) if name != FILE)


def _text(path: Path) -> str:
    """Read a file; '' if it is not text, or too long."""
    try:
        return read_text(path) if path.stat().st_size <= _LARGEST else ""
    except (OSError, UnicodeDecodeError):
        return ""
