"""Import statements in the order that ruff wants them."""

from __future__ import annotations

import sys
from collections.abc import Iterable


def import_block(statements: Iterable[str]) -> str:
    """The standard library's, a blank line, all others; each once."""
    once = sorted({*statements}, key=_order)
    groups = [
        [line for line in once if _is_standard(line) is standard] for standard in (True, False)
    ]
    return "\n\n".join("\n".join(group) for group in groups if group)


def merged(statements: Iterable[str]) -> tuple[str, ...]:
    """Each module once, with all that is wanted of it."""
    wanted: dict[str, dict[str, None]] = {}
    for statement in statements:
        module, _, names = statement.partition(" import ")
        wanted.setdefault(module, {}).update(dict.fromkeys(filter(None, names.split(", "))))
    return tuple(
        f"{module} import {', '.join(sorted(names))}" if names else module
        for module, names in wanted.items()
    )


def _order(statement: str) -> tuple[bool, str]:
    return statement.startswith("from "), statement.split()[1].lower()


def _is_standard(statement: str) -> bool:
    return statement.split()[1].split(".", maxsplit=1)[0] in sys.stdlib_module_names
