"""Numbers of things, in words."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
