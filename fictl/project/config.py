"""Reads a project's settings: `fictl.toml`, or `[tool.fictl]` of a pyproject.toml."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from fictl.arch import parse_archs
from fictl.errors import InvalidValue, UsageError, unreadable
from fictl.project_file import OWN_FILE, SHARED_FILE
from fictl.toml_text import TomlError, parse_toml
from fictl.user_file import read_bytes

__all__ = ["OWN_FILE", "SHARED_FILE", "Config", "read_config"]

_LINE = re.compile(r"\(at line (\d+), column \d+\)")


@dataclass(frozen=True)
class Config:
    """Contents of the file. Folders are relative to it. templates: `op` of [templates]."""

    name: str
    package: str = ""
    kernels: str = "kernels"
    tests: str = "tests/kernels"
    archs: str = "8.0 9.0a"
    templates: str = ""


_KEYS = tuple(field.name for field in fields(Config))
_TABLE = "templates"
_LONGEST_NAME = 64


def read_config(path: Path) -> Config | None:
    """Read the settings; None for a pyproject.toml without a table for fictl."""
    text = _read(path)
    if path.name == OWN_FILE:
        return _validated(path, text, _parsed(path, text))
    # Do not parse pyproject.toml files of others: they may be malformed.
    if "tool.fictl" not in text:
        return None
    table = _parsed(path, text).get("tool", {}).get("fictl")
    return None if table is None else _validated(path, text, table)


def _read(path: Path) -> str:
    try:
        data = read_bytes(path)
    except OSError as error:
        raise unreadable(path, error, "it is a text file") from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{path}:{line}: byte 0x{data[error.start]:02x} is not UTF-8", "save it as UTF-8 text"
        ) from None


def _parsed(path: Path, text: str) -> dict[str, Any]:
    try:
        table: dict[str, Any] = parse_toml(text)
    except TomlError as error:
        place = _LINE.search(str(error))
        line = place[1] if place else text.count("\n") + 1
        raise UsageError(f"{path}:{line}: not valid TOML: {error}", "https://toml.io") from None
    return table


def _validated(path: Path, text: str, table: Any) -> Config:
    if not isinstance(table, dict):
        raise UsageError(f"{path}: tool.fictl is {table!r}", "it is a table: [tool.fictl]")
    own = table.get(_TABLE, {})
    if not isinstance(own, dict):
        place = f"{path}:{_line_of(_TABLE, text)}"
        raise UsageError(f"{place}: {_TABLE} = {own!r}", f'a table: {_TABLE}.op = "templates/op"')
    texts = {key: value for key, value in table.items() if key != _TABLE}
    _check_texts(path, text, texts, _KEYS)
    _check_texts(path, text, own, ("op",))
    if "name" not in table:
        raise UsageError(f"{path}: no name", 'write name = "my_kernels": the import name')
    config = Config(**texts, templates=own.get("op", ""))
    _check_values(path, text, config)
    return config


def _check_texts(path: Path, text: str, table: dict[str, Any], known: tuple[str, ...]) -> None:
    """Check that each key is known and has a non-empty value."""
    for key, value in table.items():
        place = f"{path}:{_line_of(key, text)}"
        if key not in known:
            from difflib import get_close_matches

            close = get_close_matches(key, known, n=1)
            meant = f"; did you mean {close[0]!r}?" if close else ""
            raise UsageError(f"{place}: unknown key {key!r}", f"one of {', '.join(known)}{meant}")
        if not isinstance(value, str) or not value.strip():
            raise UsageError(f"{place}: {key} = {value!r}", "expected a text that is not empty")


def _check_values(path: Path, text: str, config: Config) -> None:
    if len(config.name) > _LONGEST_NAME:
        place = f"{path}:{_line_of('name', text)}"
        raise UsageError(
            f"{place}: name has {len(config.name)} letters", f"{_LONGEST_NAME} are the most"
        )
    if not (config.name.isascii() and config.name.isidentifier()) or keyword.iskeyword(config.name):
        place = f"{path}:{_line_of('name', text)}"
        raise UsageError(
            f"{place}: name {config.name!r} cannot be imported",
            "letters, digits and '_', as in 'my_kernels'",
        )
    try:
        named = parse_archs(config.archs)
    except InvalidValue as error:
        place = f"{path}:{_line_of('archs', text)}"
        raise UsageError(f"{place}: {error.message}", error.hint) from None
    if not named:
        place = f"{path}:{_line_of('archs', text)}"
        raise UsageError(f"{place}: archs = {config.archs!r} names none", "as in '8.0 9.0a'")


def _line_of(key: str, text: str) -> int:
    match = re.search(rf"^\s*[\"']?{re.escape(key)}[\"']?\s*=", text, re.MULTILINE)
    return text.count("\n", 0, match.end()) + 1 if match else 1
