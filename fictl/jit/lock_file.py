"""`fictl.lock`: the recipes and the builds that a project pinned, read from TOML."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fictl.arch import Arch
from fictl.errors import FictlError, InvalidValue, SetupError, shown, unreadable
from fictl.toml_text import parse_toml
from fictl.user_file import read_text

FILE = "fictl.lock"
SCHEMA = "fictl.lock/1"
_LARGEST = 16 << 20
_AGAIN = "fictl artifacts lock writes it anew"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_WORD = re.compile(r"\w[\w.+-]{0,199}", re.ASCII)


@dataclass(frozen=True)
class LockedBuild:
    """One build: its key, the machines it is for, and the hash and size of its module."""

    build: str
    platform: str
    archs: tuple[str, ...]
    sha256: str
    size: int


@dataclass(frozen=True)
class LockedModule:
    """One recipe of a module, as "project/module", with all its builds."""

    name: str
    device: str
    recipe: str
    builds: tuple[LockedBuild, ...]


@dataclass(frozen=True)
class Pin:
    """The snapshot that a lock was made from."""

    name: str
    sha256: str


@dataclass(frozen=True)
class LockFile:
    """All that a lock file pins."""

    path: Path
    snapshot: Pin
    modules: tuple[LockedModule, ...]

    def recipes(self, name: str, device: str) -> tuple[LockedModule, ...]:
        """Return the recipes of a module on a device; none if the lock does not name it."""
        return tuple(
            module for module in self.modules if (module.name, module.device) == (name, device)
        )


def nearest(*folders: Path) -> Path | None:
    """Return the lock file in or above the first of these folders that has one."""
    for folder in folders:
        for place in (folder, *folder.parents):
            if os.path.lexists(place / FILE):
                return place / FILE
    return None


def read_lock(path: Path) -> LockFile:
    """Read a lock file in its current state."""
    try:
        stat = os.stat(path)
    except OSError as error:
        raise unreadable(path, error, _AGAIN) from None
    return _read(path, stat.st_mtime_ns, stat.st_size)


@cache
def _read(path: Path, mtime_ns: int, size: int) -> LockFile:
    try:
        data = parse_toml(read_text(path, largest=_LARGEST))
    except OSError as error:
        raise unreadable(path, error, _AGAIN) from None
    except ValueError as error:
        raise InvalidValue(f"{path} is not a lock file: {error}", _AGAIN) from None
    _require_schema(path, data.get("schema"))
    try:
        snapshot = _table(data["snapshot"])
        pin = Pin(_word(snapshot["name"]), _sha256(snapshot["sha256"]))
        return LockFile(path, pin, tuple(_module(_table(entry)) for entry in data["module"]))
    except KeyError as error:
        raise InvalidValue(f"{path} lacks {error}", _AGAIN) from None
    except (ValueError, TypeError) as error:
        message = error.message if isinstance(error, FictlError) else str(error)
        raise InvalidValue(f"{path} is not a lock file: {message}", _AGAIN) from None


def _require_schema(path: Path, schema: object) -> None:
    if schema == SCHEMA:
        return
    kind, _, version = str(schema).rpartition("/")
    if kind == SCHEMA.rpartition("/")[0] and version.isdigit():
        raise SetupError(
            f"{path} has the schema {shown(str(schema))}, this fictl reads {SCHEMA}",
            f"install a newer fictl, or write it with this one: {_AGAIN}",
        )
    raise InvalidValue(f"{path} is not a lock file: schema = {shown(repr(schema))}", _AGAIN)


def _module(data: Mapping[str, Any]) -> LockedModule:
    project, slash, module = str(data["name"]).partition("/")
    if not slash:
        raise ValueError(f"name = {shown(repr(data['name']))}, as in 'my_kernels/norm.rmsnorm'")
    builds = tuple(_build(_table(entry)) for entry in data["builds"])
    name = f"{_word(project)}/{_word(module)}"
    return LockedModule(name, _word(data["device"]), _word(data["recipe"]), builds)


def _build(data: Mapping[str, Any]) -> LockedBuild:
    archs = tuple(str(Arch.parse(arch)) for arch in data["archs"])
    size = data["size"]
    if not isinstance(size, int) or size < 0:
        raise ValueError(f"size = {shown(repr(size))} is not a number of bytes")
    platform = str(data["platform"])
    return LockedBuild(_word(data["build"]), platform, archs, _sha256(data["sha256"]), size)


def _table(data: object) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise TypeError(f"{shown(repr(data))} is not a table")
    return data


def _word(text: object) -> str:
    if not isinstance(text, str) or not _WORD.fullmatch(text):
        raise ValueError(f"{shown(repr(text))} is not a name")
    return text


def _sha256(text: object) -> str:
    if not isinstance(text, str) or not _SHA256.fullmatch(text):
        raise ValueError(f"sha256 = {shown(repr(text))} is not a hash")
    return text
