"""Why a step failed: one line, with the source line that it concerns."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fictl.errors import FictlError
from fictl.user_file import read_text

# gcc, clang and Python print file:7:12, nvcc prints file(7); the user's file is preferred to CUDA's
# headers.
_PLACE = re.compile(
    r"(?P<file>/[^\s:()]+\.\w+)(?:\((?P<nvcc>\d+)\)|:(?P<line>\d+)(?::\d+)?)(?=[:\s])"
)


@dataclass(frozen=True)
class Problem:
    """A problem. file, line: '' and 0 if the message names none; source: the text of that line."""

    message: str
    hint: str = ""
    file: str = ""
    line: int = 0
    source: str = ""

    @classmethod
    def of(cls, error: FictlError) -> Problem:
        match = _PLACE.search(error.message)
        if not match:
            return cls(error.message, error.hint)
        line = int(match["nvcc"] or match["line"])
        source = _line_of(Path(match["file"]), line)
        return cls(error.message, error.hint, match["file"], line, source)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def _line_of(path: Path, line: int) -> str:
    try:
        lines = read_text(path, errors="replace").splitlines()
    except OSError:
        return ""
    return lines[line - 1].rstrip() if 0 < line <= len(lines) else ""
