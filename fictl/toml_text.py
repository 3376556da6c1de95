"""Parsing of a user's TOML: only one kind of error, and bounded time for any text."""

from __future__ import annotations

import sys
from typing import Any

_DEEPEST = 64


class TomlError(ValueError):
    """A text that is not TOML, with its line: 'Invalid value (at line 2, column 8)'."""


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML; raise only TomlError."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    for number, line in enumerate(text.splitlines(), 1):
        # Why first: parsing time grows as the square of a key's parts: minutes for 100,000.
        if _key(line).count(".") > _DEEPEST:
            raise TomlError(f"a key of more than {_DEEPEST} parts (at line {number}, column 1)")
    try:
        table: dict[str, Any] = tomllib.loads(text)
    except RecursionError:
        raise TomlError("it is nested too deeply (at line 1, column 1)") from None
    except ValueError as error:
        raise TomlError(str(error)) from None
    return table


def _key(line: str) -> str:
    """Return the key of a table or value on this line; '' if the line is inside a value."""
    if line.lstrip().startswith("["):
        return line.partition("]")[0]
    key, equals, _ = line.partition("=")
    return key if equals else ""
