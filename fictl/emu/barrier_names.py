"""Names of mbarriers in reports: the C++ variable that the source initialises, and its index."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fictl.emu.symbols import Frame

Chain = Sequence[Frame]

# Calls of one function each: "full[i].init(1)", "shared.ring.init(...)", "init(&full[i], 1)".
_NAME = r"[A-Za-z_]\w*(?:\[[^\]]*\])?"
_PATH = rf"{_NAME}(?:(?:\.|->){_NAME})*"
_METHOD = re.compile(rf"({_PATH})(?:\.|->)init\w*\s*\(")
_FUNCTION = re.compile(rf"\w*init\w*\s*\(\s*&?\s*({_PATH})")
_BYTES = 8
_WHERE = "shared+"  # begins the runtime's names of places in dynamic shared memory


def barrier_name(chains: Mapping[int, Chain], offset: int) -> str:
    """Return the name of the barrier at an offset, empty if unknown.

    chains: for each barrier of its block, the calls that led to mbarrier.init, innermost first.
    Barriers side by side that one statement initialises are an array.
    """
    words = _words(chains[offset])
    if not words or "[" not in words[-1]:
        return ".".join(words)
    first = offset
    while _lines(chains.get(first - _BYTES, ())) == _lines(chains[offset]):
        first -= _BYTES
    name = re.sub(r"\[[^\]]*\]$", "", ".".join(words))
    return f"{name}[{(offset - first) // _BYTES}]"


def renamed(row: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the report with other names for its barriers in dynamic shared memory."""
    known = {old: new for old, new in names.items() if new and old.startswith(_WHERE)}
    if not known:
        return row
    row = {key: _replaced(value, known) for key, value in row.items()}
    index = re.search(r"\[(\d+)\]$", row.get("barrier", ""))
    return {**row, "stage": int(index[1])} if index and "stage" in row else row


def _replaced(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for old, new in names.items():
            value = re.sub(re.escape(old) + r"(?![\d\[])", lambda _, to=new: to, value)
        return value
    if isinstance(value, list):
        return [_replaced(each, names) for each in value]
    if isinstance(value, dict):
        return {key: _replaced(each, names) for key, each in value.items()}
    return value


def _words(chain: Chain) -> list[str]:
    """Return the variables that the calls name, outermost first."""
    words: list[str] = []
    for frame in chain:
        text = _line(frame)
        found = _METHOD.search(text) or (None if words else _FUNCTION.search(text))
        if found:
            words.insert(0, found[1].replace("->", "."))
    return words


def _lines(chain: Chain) -> list[tuple[str, int]]:
    return [(frame.file, frame.line) for frame in chain]


def _line(frame: Frame) -> str:
    try:
        lines = Path(frame.file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return lines[frame.line - 1] if 0 < frame.line <= len(lines) else ""
