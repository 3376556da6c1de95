"""Errors for code without a translation, shown as compilers do: location and source line."""

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
    """Raised inside the translator with node and reason; `at` converts it to the user's error."""

    def __init__(self, node: ast.AST, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.node, self.why, self.hint = node, why, hint


class Untranslatable(UsageError, ValueError):
    """Raised for a Python function that cannot be translated; names the line."""

    code = "untranslatable"


def at(refused: Refused, file: str, lines: Sequence[str], function: str) -> Untranslatable:
    """Return the user's error for a refusal. lines: of the whole file."""
    line, column = getattr(refused.node, "lineno", 1), getattr(refused.node, "col_offset", 0)
    end_line = getattr(refused.node, "end_lineno", None) or line
    text = lines[line - 1].rstrip("\n") if line <= len(lines) else ""
    end = getattr(refused.node, "end_col_offset", None) if end_line == line else None
    # Bytes, because the parser counts columns in bytes.
    start = len(text.encode()[:column].decode(errors="replace"))
    stop = len(text.encode()[: len(text.encode()) if end is None else end].decode(errors="replace"))
    indent = len(text) - len(text.lstrip())
    marks = " " * (start - indent) + "^" * max(stop - start, 1)
    return Untranslatable(
        f"{file}:{line}:{start + 1}: {function}: {refused.why}\n    {text.strip()}\n    {marks}",
        refused.hint or f"accepted: {ACCEPTED}",
    )
