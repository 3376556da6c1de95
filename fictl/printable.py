"""Text of others, without what a terminal would take for a command."""

from __future__ import annotations

from typing import Any

LINES = "\n\t"


def printable(text: str, kept: str = LINES) -> str:
    """Escape control characters but `kept` ones, and what changes the direction of a text."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in kept else repr(one)[1:-1] for one in text)


def printable_document(value: Any, kept: str = LINES) -> Any:
    """Return a JSON document with all its texts and names `printable`."""
    if isinstance(value, str):
        return printable(value, kept)
    if isinstance(value, list):
        return [printable_document(one, kept) for one in value]
    if isinstance(value, dict):
        return {printable(name, kept): printable_document(one, kept) for name, one in value.items()}
    return value
