"""The user's settings file, whose keys are the variables' names in lower case.

`max_jobs = 4` in it means FICTL_MAX_JOBS=4, unless the environment sets another value.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fictl.errors import InvalidValue
from fictl.redact import hide_secrets
from fictl.toml_text import TomlError, parse_toml
from fictl.user_file import read_text

PREFIX = "FICTL_"
_LARGEST = 1 << 20
_WHAT = "it is a text file of at most 1 MiB, in UTF-8: key = value"

# How to write a list as the value of one variable.
_JOIN = {"paths": os.pathsep.join, "words": shlex.join}


@dataclass(frozen=True)
class SettingsFile:
    """The file's values by variable; empty without a file."""

    path: Path
    values: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)

    def place(self, variable: str) -> str:
        return f"{self.path}:{self.lines[variable]}"

    def text(self, variable: str, kind: str) -> str:
        """Format the value as the environment would hold it."""
        if variable not in self.values:
            return ""
        value = self.values[variable]
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, list) and all(isinstance(part, str) for part in value):
            return _JOIN.get(kind, " ".join)(value)
        if isinstance(value, int) or (isinstance(value, str) and value.strip()):
            return str(value)
        raise InvalidValue(
            f"{self.place(variable)}: {key_of(variable)} = {hide_secrets(repr(value))} cannot be read",
            "expected a text that is not empty, a whole number, true, false, or a list of texts",
        )


def read(path: Path) -> SettingsFile:
    """Read the file in its current state."""
    try:
        text = read_text(path, largest=_LARGEST)
    except UnicodeDecodeError as error:
        raise InvalidValue(f"{path} cannot be read: it is not UTF-8: {error}", _WHAT) from error
    except OSError as error:
        # An unsearchable home, such as that of sudo's caller, counts as one without a file.
        if not os.path.lexists(path):
            return SettingsFile(path)
        if isinstance(error, FileNotFoundError):
            raise InvalidValue(f"{path} cannot be read: it is a link to nothing", _WHAT) from None
        raise InvalidValue(f"{path} cannot be read: {error.strerror}", _WHAT) from error
    values = {_variable(key): value for key, value in _parsed(path, text).items()}
    return SettingsFile(path, values, {name: _line(key_of(name), text) for name in values})


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        table: dict[str, Any] = parse_toml(text)
    except TomlError as error:
        place = re.search(r"line (\d+)", str(error))
        line = place[1] if place else text.count("\n") + 1
        raise InvalidValue(f"{path}:{line}: not valid TOML: {error}", "https://toml.io") from None
    return table


def _variable(key: str) -> str:
    return PREFIX + key.upper()


def key_of(variable: str) -> str:
    """Spell a variable's name as the file does."""
    return variable.removeprefix(PREFIX).lower()


def _line(key: str, text: str) -> int:
    match = re.search(rf"^\s*[\"']?{re.escape(key)}[\"']?\s*=", text, re.MULTILINE | re.IGNORECASE)
    return text.count("\n", 0, match.end()) + 1 if match else 1
