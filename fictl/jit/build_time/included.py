"""Headers that a unit reads, and the lines that each brings, from the preprocessor's line markers."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

_MARKER = re.compile(rb'# \d+ "((?:[^"\\]|\\.)*)"((?: \d)*)$')
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_ENTERED, _LEFT = b"1", b"2"


@dataclass(frozen=True)
class Included:
    """A header with all its includes. `includer` is None if the compiler itself includes it."""

    path: Path
    includer: Path | None
    lines: int


def includes(text: bytes, own: Collection[Path]) -> list[Included]:
    """Return the headers that `own` files or the compiler include: an edit could remove these."""
    lines, includers = _attribute(text)
    return [
        Included(path, includers[path], lines[path])
        for path in includers
        if lines[path] and (includers[path] is None or includers[path] in own)
    ]


def _attribute(text: bytes) -> tuple[Counter[Path], dict[Path, Path | None]]:
    """Count lines by header, with its includes, and note which file included it first."""
    lines: Counter[Path] = Counter()
    includers: dict[Path, Path | None] = {}
    stack: list[Path] = []
    since_marker = 0
    for line in text.splitlines():
        marker = _MARKER.match(line) if line.startswith(b"#") else None
        if marker is None:
            since_marker += bool(line.strip())
            continue
        for path in set(stack):
            lines[path] += since_marker
        since_marker = 0
        _follow(stack, includers, _path(marker[1]), marker[2].split())
    for path in set(stack):
        lines[path] += since_marker
    return lines, includers


def _follow(
    stack: list[Path], includers: dict[Path, Path | None], path: Path, flags: list[bytes]
) -> None:
    if _ENTERED in flags:
        above = stack[-1] if stack else None
        if not _is_made_up(path):
            includers.setdefault(path, None if above is None or _is_made_up(above) else above)
        stack.append(path)
    elif _LEFT in flags and stack:
        stack.pop()
        if not stack:
            stack.append(path)
    else:
        # A #line directive, or the unit itself at the beginning.
        stack[-1:] = [path]


def _is_made_up(path: Path) -> bool:
    """True for names that are not files: `<built-in>`, `<command-line>`."""
    return path.name.startswith("<")


def _path(quoted: bytes) -> Path:
    """Decode a quoted path: the preprocessor writes non-ASCII bytes as octal numbers."""
    raw = _ESCAPE.sub(lambda m: bytes([int(m[1], 8)]) if len(m[1]) == 3 else m[1], quoted)
    return Path(os.path.normpath(os.fsdecode(raw)))
