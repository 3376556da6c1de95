"""Finds the first error in a solution's sources in the output of compilers and Python."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

# Formats: gcc and clang; nvcc; a frame of a traceback.
_COMPILER = re.compile(
    r"(?:^|(?<=: ))(?P<file>[^\s:()]+)(?::(?P<line>\d+)(?::(?P<column>\d+))?:|\((?P<row>\d+)\):)\s*"
    r"(?:fatal |catastrophic |internal )?error\b\s*(?:#[\w-]+)?\s*:?\s*(?P<text>.+)$",
    re.MULTILINE,
)
_FRAME = re.compile(r'^\s*File "(?P<file>[^"\n]+)", line (?P<line>\d+)', re.MULTILINE)
_RAISED = re.compile(r"^(?:[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit)\b.*)$", re.MULTILINE)


@dataclass(frozen=True)
class FirstError:
    """`file` is one of the solution's sources, or '' if none is named. Lines count from 1."""

    text: str
    file: str = ""
    line: int = 0
    column: int = 0

    @property
    def place(self) -> str:
        parts = [self.file, *(str(n) for n in (self.line, self.column) if n)]
        return ":".join(parts) if self.file else ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def first_error(texts: Iterable[str], sources: Iterable[str], otherwise: str = "") -> FirstError:
    """Search the texts in their order; `sources` are the paths of the solution's files."""
    known, outputs = [*sources], [*texts]
    for find in (_compiler_error, _raised_inside, _raised):
        error = next(filter(None, (find(text, known) for text in outputs)), None)
        if error is not None:
            return error
    named = next((source for source in known if f"{source} " in f"{otherwise} "), "")
    return FirstError(otherwise, named)


def own_path(path: str, sources: Iterable[str]) -> str:
    """Path of the source that a file on disk is a copy of; '' if there is none."""
    path = path.replace("\\", "/").removeprefix("./")
    ends = [source for source in sources if path == source or path.endswith(f"/{source}")]
    return max(ends, key=len, default="")


def _compiler_error(text: str, sources: list[str]) -> FirstError | None:
    """Prefer an error in the solution's files: it often causes errors in others' headers."""
    errors = [_compiler(match, sources) for match in _COMPILER.finditer(text)]
    return next((error for error in errors if error.file), next(iter(errors), None))


def _compiler(match: re.Match[str], sources: list[str]) -> FirstError:
    line = int(match["line"] or match["row"] or 0)
    file = own_path(match["file"], sources)
    message = match["text"].strip()
    if not file:
        return FirstError(f"{match['file']}:{line}: {message}")
    return FirstError(message, file, line, int(match["column"] or 0))


def _raised_inside(text: str, sources: list[str]) -> FirstError | None:
    """The raised error, with the innermost frame in the solution's own files."""
    raised = _raised(text, sources)
    own = ((own_path(f["file"], sources), int(f["line"])) for f in _FRAME.finditer(text))
    inside = [(file, line) for file, line in own if file]
    return FirstError(raised.text, *inside[-1]) if raised and inside else None


def _raised(text: str, _sources: list[str]) -> FirstError | None:
    raised = [*_RAISED.finditer(text)]
    return FirstError(raised[-1][0].strip()) if raised else None
