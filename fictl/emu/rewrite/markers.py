"""Line markers of preprocessed text: they give the file, the line and the owner of code."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MARKER = re.compile(r'(\d+) "((?:\\.|[^"\\\n])*)"([ \d]*)(?:\n|$)')
_LINE = re.compile(r'^# \d+ "[^\n]*\n?', re.MULTILINE)
_HIDDEN = re.compile(r'\n# 0 "fictl_emu_hidden" (\d+)(?=\n|$)')

# Parts of the toolkit that contain kernels, and are rewritten like a user's code.
_KERNELS = ("/cub/",)


def hide(text: str, own_headers: Sequence[str]) -> tuple[str, list[str]]:
    """Split off the code of the system, the toolkit and the emulator.

    Returns the rest of `text`, with placeholders, and the hidden code. Markers inside a statement,
    left by macros of system headers, become white space, so that readers of statements need not
    handle them.
    """
    scan = _Markers(tuple(own_headers))
    for piece in ("\n" + text).split("\n# "):
        scan.add(piece)
    return "".join(scan.shown), ["".join(pieces) for pieces in scan.hidden]


def reveal(text: str, hidden: Sequence[str]) -> str:
    return _HIDDEN.sub(lambda match: hidden[int(match[1])], text)[1:]


def place(text: str, index: int) -> str:
    """Return `file:line` for an index into text that `hide` returned."""
    begin = text.rfind("\n# ", 0, index)
    match = _MARKER.match(text, begin + 3) if begin >= 0 else None
    if match is None:
        return f"line {text.count(chr(10), 0, index)}"
    return f"{match[2]}:{int(match[1]) + text.count(chr(10), match.end(), index)}"


def without_markers(text: str) -> str:
    return _LINE.sub(" ", text)


def padding(text: str) -> str:
    """Return text that replaces `text` without moving the lines after it."""
    markers = list(_LINE.finditer(text))
    if not markers:
        return "\n" * text.count("\n")
    return "\n" + markers[-1][0] + "\n" * text.count("\n", markers[-1].end())


class _Markers:
    """Sorts the pieces between markers into shown and hidden."""

    def __init__(self, own_headers: tuple[str, ...]) -> None:
        self.own_headers = own_headers
        self.shown: list[str] = []
        self.hidden: list[list[str]] = []  # one list of pieces per placeholder
        self._foreign: dict[str, bool] = {}
        self._file = ""
        self._line = 0
        self._last_hidden = False

    def add(self, piece: str) -> None:
        match = _MARKER.match(piece)
        if match is None:  # the beginning, or text that looks like a marker
            self._append(f"\n# {piece}" if self.shown or self.hidden else piece)
            return
        line, file, flags = int(match[1]), match[2], match[3].split()
        body = piece[match.end() :]
        resumes = file == self._file and not {"1", "2"} & set(flags) and line >= self._line
        # A #pragma must stay at the beginning of a line.
        if resumes and not self._last_hidden and not body.startswith("#"):
            self._append(("\n" * (line - self._line) or " ") + body)
            return
        self._file, self._line = file, line
        self._last_hidden = self._is_foreign(file, flags)
        if self._last_hidden:
            self._hide(f"\n# {piece}")
        else:
            self.shown.append(f'\n# {line} "{file}"{match[3]}\n')
            self._append(body)

    def _is_foreign(self, file: str, flags: list[str]) -> bool:
        if file not in self._foreign:
            outside = file.startswith(("<", *self.own_headers)) or "3" in flags
            self._foreign[file] = outside and not any(part in file for part in _KERNELS)
        return self._foreign[file]

    def _append(self, body: str) -> None:
        if self._last_hidden:
            self.hidden[-1].append(body)
        else:
            self.shown.append(body)
            self._line += body.count("\n")

    def _hide(self, piece: str) -> None:
        if self.shown and self.shown[-1].startswith('\n# 0 "fictl_emu_hidden"'):
            self.hidden[-1].append(piece)
        else:
            self.shown.append(f'\n# 0 "fictl_emu_hidden" {len(self.hidden)}')
            self.hidden.append([piece])
