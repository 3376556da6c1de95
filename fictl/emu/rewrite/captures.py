"""Adds captures of shared variables to lambdas: CUDA needs none, references do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fictl.emu.rewrite.scan import Edit, Malformed, closing

_INTRODUCER = re.compile(r"(?:(?<![\w\])>\s])|\breturn)\s*(\[([^\[\]]*)\])\s*(?=[({]|mutable\b)")


def mentions(text: str, name: str) -> bool:
    """True if `text` uses `name` itself, not as a member of something."""
    return re.search(rf"(?<![\w.])(?<!->)(?<!::){name}\b", text) is not None


@dataclass(frozen=True)
class Reach:
    """The scope of a shared variable in the text."""

    begin: int
    end: int
    name: str


def capture(text: str, reaches: Sequence[Reach]) -> list[Edit]:
    """Make lambdas capture the shared variables that they use, by reference."""
    edits = []
    for match in _INTRODUCER.finditer(text) if reaches else ():
        captured = [item.strip() for item in match[2].split(",")]
        if captured[0] == "&":
            continue
        body = _body(text, match.end())
        names = {reach.name for reach in reaches if reach.begin <= match.start() < reach.end}
        missing = {f"&{name}" for name in names if mentions(body, name)} - set(captured)
        if missing:
            items = ", ".join(filter(None, [*captured, *sorted(missing)]))
            edits.append(Edit(match.start(1), match.end(1), f"[{items}]"))
    return edits


def _body(text: str, begin: int) -> str:
    try:
        if text[begin] == "(":
            begin = closing(text, begin) + 1
        opened = text.index("{", begin)
        return text[opened : closing(text, opened)]
    except (Malformed, ValueError):
        return ""
