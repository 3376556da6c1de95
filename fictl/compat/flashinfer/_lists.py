"""Recorded lists: names by their heads, in text files beside this one.

A line without a blank is a head, one with a blank a head below it, one with two holds names.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

NAMES = "  "


def paragraphs(file: str) -> Iterator[tuple[tuple[str, ...], set[str]]]:
    """Yield each head, or pair of heads, with its names."""
    heads: tuple[str, ...] = ()
    names: set[str] | None = None
    for line in Path(__file__).with_name(file).read_text(encoding="utf-8").splitlines():
        if line.startswith(NAMES):
            assert names is not None, f"{file} begins with names"
            names.update(line.split())
        elif not line.startswith("#"):
            if names is not None:
                yield heads, names
            heads = (*heads[:1], line.strip()) if line.startswith(" ") else (line,)
            names = set()
    if names is not None:
        yield heads, names
