"""Imports stay in order where a package in them has another name."""

from __future__ import annotations

import re

from fictl.scaffold.kinds.imports import import_block

_BLOCK = re.compile(r"(?:^(?:import|from) [^\n(\\]+\n){2,}", re.MULTILINE)


def sort_imports(text: str, name: str) -> str:
    """Sort the blocks of imports that contain `name`; others stay as their author wrote them."""
    word = re.compile(rf"\b{re.escape(name)}\b")

    def sort(match: re.Match[str]) -> str:
        return import_block(match[0].splitlines()) + "\n" if word.search(match[0]) else match[0]

    return _BLOCK.sub(sort, text)
