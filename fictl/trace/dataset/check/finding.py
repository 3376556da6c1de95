"""Finding: one result of checking a dataset."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from fictl.trace.documents.json_line import line_of
from fictl.trace.documents.reading import NotReadable, Problem
from fictl.user_file import read_text

# error: a run would fail; warning: a run would lack something; note: concerns other tools.
Level: TypeAlias = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Finding:
    """`kind` is stable, for scripts. `line` is 0 if the whole file is meant."""

    kind: str
    path: Path
    text: str
    field: str = ""
    line: int = 0
    level: Level = "error"

    def __str__(self) -> str:
        return str(Problem(self.path, self.line, self.field, self.text))

    def to_dict(self, root: Path) -> dict[str, Any]:
        inside = self.path.is_relative_to(root)
        path = self.path.relative_to(root).as_posix() if inside else str(self.path)
        return {
            "level": self.level,
            "kind": self.kind,
            "file": path,
            "line": self.line,
            "field": self.field,
            "text": self.text,
        }


def unreadable(kind: str, error: NotReadable) -> list[Finding]:
    return [Finding(kind, p.path, p.text, p.field, p.line) for p in error.problems]


def in_document(
    kind: str, path: Path, text: str, *field: str | int, level: Level = "error"
) -> Finding:
    """A finding about a field of a readable file; looks up its line."""
    line = line_of(read_text(path), field)
    return Finding(kind, path, text, ".".join(map(str, field)), line, level)
