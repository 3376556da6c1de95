"""TOML that somebody wrote: what is wrong in it is one kind of error, and no text takes long."""

from __future__ import annotations

import sys
from typing import Any

_DEEPEST = 64


class TomlError(ValueError):
    """A text that is not TOML, with its line: 'Invalid value (at line 2, column 8)'."""


def parse_toml(text: str) -> dict[str, Any]:
    """TomlError is all that it raises."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    for number, line in enumerate(text.splitlines(), 1):
        # Why first: the parser takes the square of a key's parts, which is minutes for 100,000.
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
    """Return the key of a table or of a value; '' if the line is in the middle of something."""
    if line.lstrip().startswith("["):
        return line.partition("]")[0]
    key, equals, _ = line.partition("=")
    return key if equals else ""
