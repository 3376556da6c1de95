"""Line numbers of fields in a JSON text, looked up for errors only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import count

_SPACE = re.compile(r"[ \t\n\r]*")
_decoder = json.JSONDecoder()


def line_of(text: str, field: Sequence[str | int]) -> int:
    """Line of the last part of `field` that exists, in a valid text."""
    value = stands = _skip(text, 0)
    for part in field:
        member = next((places for key, *places in _members(text, value) if key == part), None)
        if member is None:
            break
        stands, value = member
    return text.count("\n", 0, stands) + 1


def last_line_with(text: str, word: str) -> int:
    return text.count("\n", 0, max(text.rfind(word), 0)) + 1


def _members(text: str, at: int) -> Iterator[tuple[str | int, int, int]]:
    """Members of an object or a list: key, position of the key, position of the value."""
    closing = {"{": "}", "[": "]"}.get(text[at])
    if closing is None:
        return
    at = _skip(text, at + 1)
    for index in count():
        if text[at] == closing:
            return
        key: str | int = index
        stands = at
        if closing == "}":
            key, at = _decoder.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        yield key, stands, at
        _, at = _decoder.raw_decode(text, at)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
