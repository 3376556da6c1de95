"""Headers that one compilation can show to stand alone: each behind those that it includes itself.

What is included before a header could hide that the header forgets an include. It cannot where the
header includes all of that anyway, so one unit serves a whole chain of headers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

_DIRECTIVE = re.compile(r"^\s*#\s*(if|endif|include)\w*\b\s*(?:[<\"]([^>\"]+)[>\"])?", re.MULTILINE)
Closures = dict[str, frozenset[str]]


def closures(headers: Mapping[str, Path]) -> Closures:
    """Map each header to those that it always includes, over others, too.

    One without #pragma once does something each time: it is in no other's chain.
    """
    texts = {name: path.read_text(encoding="utf-8") for name, path in headers.items()}
    once = {name for name, text in texts.items() if "#pragma once" in text}
    direct = {name: _unconditional(text) & once for name, text in texts.items()}
    found: Closures = {}

    def visit(name: str) -> frozenset[str]:
        if name not in found:
            found[name] = direct[name].union(*map(visit, direct[name]))
        return found[name]

    # In the order of the headers: processes that share the tests out must all find the same chains.
    return {name: visit(name) for name in headers}


def _unconditional(text: str) -> set[str]:
    depth, names = 0, set()
    for kind, name in _DIRECTIVE.findall(text):
        depth += {"if": 1, "endif": -1}.get(kind, 0)
        if kind == "include" and depth == 0:
            names.add(name)
    return names


def chains(closures: Closures) -> list[list[str]]:
    """Share all headers out among the fewest chains: by the largest matching of pairs."""
    outer = {name: [other for other in closures if name in closures[other]] for name in closures}
    before: dict[str, str] = {}

    def place(name: str, tried: set[str]) -> bool:
        for other in outer[name]:
            if other in tried:
                continue
            tried.add(other)
            if other not in before or place(before[other], tried):
                before[other] = name
                return True
        return False

    for name in closures:
        place(name, set())
    made = []
    for last in sorted({*closures} - {*before.values()}):
        chain = [last]
        while chain[0] in before:
            chain.insert(0, before[chain[0]])
        made.append(chain)
    return made
