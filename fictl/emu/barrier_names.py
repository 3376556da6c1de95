"""Names of mbarriers in reports: the C++ variable that the source initialises, and its index."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fictl.emu.symbols import Frame

# Calls of one function each: "full[i].init(1)", "shared.ring.init(…)", "init(bar + i, 1)".
_NAME = r"[A-Za-z_]\w*(?:\[[^\]]*\])?"
_PATH = rf"{_NAME}(?:(?:\.|->){_NAME})*"
_METHOD = re.compile(rf"({_PATH})(?:\.|->)init\w*\s*\(")
_FUNCTION = re.compile(rf"\w*init\w*\s*\(\s*&?\s*({_PATH})")


def barrier_name(chain: Sequence[Frame], index: int) -> str:
    """Return the name of a barrier from the calls that led to its mbarrier.init, else nothing.

    The innermost call is first; index: the place in its array, below zero outside of one.
    """
    words: list[str] = []
    for frame in chain:
        text = _line(frame)
        found = _METHOD.search(text)
        if found is None and not words:
            found = _FUNCTION.search(text)
        if found:
            words.insert(0, found[1].strip().replace("->", "."))
    if not words:
        return ""
    name = re.sub(r"\[[^\]]*\]$", "", ".".join(words))
    return name if index < 0 else f"{name}[{index}]"


def renamed(row: dict[str, Any], names: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the report with other names for its barriers: pairs of before and after."""
    pairs = [(before, after) for before, after in names if after]
    return {key: _replaced(value, pairs) for key, value in row.items()} if pairs else row


def _replaced(value: Any, pairs: Sequence[tuple[str, str]]) -> Any:
    if isinstance(value, str):
        for before, after in pairs:
            value = re.sub(re.escape(before) + r"(?![\d\[])", lambda _, to=after: to, value)
        return value
    if isinstance(value, list):
        return [_replaced(each, pairs) for each in value]
    if isinstance(value, dict):
        return {key: _replaced(each, pairs) for key, each in value.items()}
    return value


def _line(frame: Frame) -> str:
    try:
        lines = Path(frame.file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return lines[frame.line - 1] if 0 < frame.line <= len(lines) else ""
