"""Errors about code without a translation, shown as compilers show an error, with its place and its text."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fictl.errors import UsageError

ACCEPTED = (
    "numbers, + - * / // % **, comparisons, and or not, & | ^, `a if c else b`, abs min max where "
    "float int bool round floor ceil, exp exp2 log log2 tanh sigmoid sqrt rsqrt sin cos erf, names "
    "with a value, if/elif/else, return"
)


class Refused(Exception):
    """Inside the translator: what, and why; who has the source makes an error of it."""

    def __init__(self, node: ast.AST, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.node, self.why, self.hint = node, why, hint


class Untranslatable(UsageError, ValueError):
    """A Python function that cannot be written in C++, and the line of it that is why."""


def at(refused: Refused, file: str, lines: Sequence[str], function: str) -> Untranslatable:
    """`lines` are those of the whole file."""
    line, column = getattr(refused.node, "lineno", 1), getattr(refused.node, "col_offset", 0)
    end_line = getattr(refused.node, "end_lineno", None) or line
    text = lines[line - 1].rstrip("\n") if line <= len(lines) else ""
    end = getattr(refused.node, "end_col_offset", None) if end_line == line else None
    # Why bytes: that is how the parser counts columns.
    start = len(text.encode()[:column].decode(errors="replace"))
    stop = len(text.encode()[: len(text.encode()) if end is None else end].decode(errors="replace"))
    indent = len(text) - len(text.lstrip())
    marks = " " * (start - indent) + "^" * max(stop - start, 1)
    return Untranslatable(
        f"{file}:{line}:{start + 1}: {function}: {refused.why}\n    {text.strip()}\n    {marks}",
        refused.hint or f"accepted: {ACCEPTED}",
    )
