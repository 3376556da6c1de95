"""Matches brackets and separators in C++ text; skips string literals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Each alternative begins with a different character, and only the fence is a named group: this
# makes the search ten times as fast. A ' between digits is not a quote.
_LITERAL = (
    r'R"(?P<fence>[^()\\\s]{0,16})\([\s\S]*?\)(?P=fence)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'(?:(?<=u8')|(?<![0-9a-fA-F]'))(?:\\.|[^'\\\n])*'"
)
_BRACKET = re.compile(rf"{_LITERAL}|\(|\[|{{|\)|\]|}}|,|;|:|=|>>>")
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
# The constructs that the rewriter handles, and braces, which give their scope.
CONSTRUCT = re.compile(
    rf"{_LITERAL}|{{|}}|<<<|__fictl_emu_(?:shared|cluster_dims)__|asm\b|__asm__\b|__asm\b"
)


class Malformed(ValueError):
    """Raised for code that no compiler would accept; `index` is its position."""

    def __init__(self, index: int, message: str) -> None:
        super().__init__(message)
        self.index = index


@dataclass(frozen=True)
class Edit:
    """Replacement of text[begin:end] by `text`."""

    begin: int
    end: int
    text: str


def apply(text: str, edits: list[Edit]) -> str:
    parts, done = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.begin, edit.end)):
        parts += [text[done : edit.begin], edit.text]
        done = edit.end
    return "".join([*parts, text[done:]])


def closing(text: str, index: int) -> int:
    """Return the index of the bracket that closes the one at `index`."""
    for sign, at, depth in _brackets(text, index):
        if depth == 0 and sign in _CLOSE:
            return at
    raise Malformed(index, f"nothing closes this {text[index]!r}")


def find(text: str, mark: str, begin: int) -> int:
    """Return the index of the next `mark` outside of brackets."""
    for sign, at, depth in _brackets(text, begin):
        if depth < 0:
            break
        if depth == 0 and sign == mark:
            return at
    raise Malformed(begin, f"no {mark!r} ends this")


def body(text: str, begin: int) -> int | None:
    """Return the index of the brace that opens a function's body; None for a declaration."""
    for sign, at, depth in _brackets(text, begin):
        if (sign == "{" and depth == 1) or (sign == ";" and depth == 0):
            return at if sign == "{" else None
    return None


def split(text: str, mark: str) -> list[str]:
    """Split `text` at each `mark` outside of brackets."""
    parts, begin = [], 0
    for sign, at, depth in _brackets(text, 0):
        if depth == 0 and sign == mark:
            parts.append(text[begin:at])
            begin = at + 1
    return [*parts, text[begin:]]


def _brackets(text: str, begin: int) -> Iterator[tuple[str, int, int]]:
    """Yield brackets and marks: sign, index, and the bracket depth after it."""
    depth = 0
    for match in _BRACKET.finditer(text, begin):
        sign = match[0]
        depth += (sign in _OPEN) - (sign in _CLOSE)
        yield sign, match.start(), depth


def opening(text: str, index: int) -> int:
    """Return the index of the bracket that the one at `index` closes; expects no strings."""
    pairs = {")": "(", "]": "[", "}": "{", ">": "<"}
    waiting: list[str] = []
    for at in range(index, -1, -1):
        character = text[at]
        # Inside of ( ) and [ ], < and > compare and shift.
        if character in ")]}" or (character == ">" and waiting[-1:] in ([], ["<"])):
            waiting.append(pairs[character])
        elif waiting and character == waiting[-1]:
            waiting.pop()
            if not waiting:
                return at
    raise Malformed(index, f"nothing opens this {text[index]!r}")
