"""Import statements in the order that ruff wants them."""

from __future__ import annotations

import sys
from collections.abc import Iterable


def import_block(statements: Iterable[str]) -> str:
    """The standard library's, a blank line, all others; each once."""
    once = sorted({*statements}, key=_order)
    groups = [
        [each for each in once if _is_standard(each) is standard] for standard in (True, False)
    ]
    return "\n\n".join("\n".join(group) for group in groups if group)


def _order(statement: str) -> tuple[bool, str]:
    return statement.startswith("from "), statement.split()[1].lower()


def _is_standard(statement: str) -> bool:
    return statement.split()[1].split(".", maxsplit=1)[0] in sys.stdlib_module_names
