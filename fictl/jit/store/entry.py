"""One build in a store. It exists once its manifest, the last file, is written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path, PurePosixPath
from typing import Any

from fictl import rooted
from fictl.arch import Arch
from fictl.sealed import seal, unseal

_SCHEMA_NAME, _SCHEMA_NUMBER = "fictl.build", 1
SCHEMA = f"{_SCHEMA_NAME}/{_SCHEMA_NUMBER}"
MANIFEST = "manifest.json"
MODULE = "module.so"

# Up to this size a file is hashed at every load; above, only if its mtime has changed:
# a copy of a store need not keep mtimes.
FULL_HASH_BYTES = 6 << 20


class Unusable(Exception):
    """The entry cannot be used by this version of fictl."""


class Corrupt(Unusable):
    """The entry differs from its manifest."""


class Newer(Unusable):
    """A newer version of fictl made the entry: it is whole, and not for this one."""

    @classmethod
    def by(cls, schema: object) -> Newer:
        return cls(f"a newer fictl made it: its schema is {schema}, this one's {SCHEMA}")


@dataclass(frozen=True)
class FileStamp:
    """The size, mtime and hash that a published file must still have."""

    size: int
    mtime_ns: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> FileStamp:
        stat = path.stat()
        return cls(stat.st_size, stat.st_mtime_ns, sha256(path))

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> FileStamp:
        return cls(**_known(cls, data))


@dataclass(frozen=True)
class Manifest:
    """All recorded facts about a build.

    platform: as platform.py writes it; '' in builds of older versions of fictl.
    origin: of a build that was pulled, its URL and the name of the key; empty for own builds.
    source, builder: commit and state of the project, and who built it, where that was recorded.
    """

    project: str
    module: str
    recipe: str
    build: str
    device: str
    variant: str
    archs: tuple[str, ...]
    toolchain: dict[str, str]
    ffi_abi: str
    cudart: int
    inputs: dict[str, str]
    flags: dict[str, list[str]]
    parameters: dict[str, Any]
    files: dict[str, FileStamp]
    fictl: str
    created: float
    seconds: float
    peak_kib: int
    units: dict[str, float] = field(default_factory=dict)
    platform: str = ""
    origin: dict[str, str] = field(default_factory=dict)
    source: dict[str, Any] = field(default_factory=dict)
    builder: str = ""
    schema: str = SCHEMA

    def to_json(self) -> str:
        return seal(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Read a manifest, without fields that are not known here; raise Corrupt or Newer."""
        try:
            newer = is_newer(json.loads(text)["schema"])
            record = unseal(text, required=False)
            if newer:
                raise Newer.by(record["schema"])
            data = _known(cls, record)
            if len(data) < len(record):
                unseal(text)  # Only versions that seal have other fields: else it is damage.
            data["archs"] = tuple(str(Arch.parse(arch)) for arch in data["archs"])
            data["files"] = {_plain(name): FileStamp.read(it) for name, it in data["files"].items()}
            return cls(**data)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise Corrupt(f"unreadable manifest: {error!r}") from error


def is_newer(schema: Any) -> bool:
    """True for a schema of a later version of fictl; raise Corrupt for any other that is not ours."""
    match = re.fullmatch(rf"{re.escape(_SCHEMA_NAME)}/(\d{{1,9}})", str(schema))
    if schema != SCHEMA and not (match and int(match[1]) > _SCHEMA_NUMBER):
        raise Corrupt(f"schema {schema!r}, expected {SCHEMA!r}")
    return bool(schema != SCHEMA)


# The types of a record's fields, by annotation; other fields are checked where they are read.
_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
}


def _known(record: type, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a record's fields, of the right types, without those of newer versions."""
    known = {one.name: str(one.type) for one in fields(record)}
    for name in known.keys() & data.keys():
        kinds = (dict,) if known[name].startswith("dict[") else _TYPES.get(known[name])
        if kinds and (not isinstance(data[name], kinds) or isinstance(data[name], bool)):
            raise TypeError(f"{name} is {data[name]!r}")
    return {name: data[name] for name in known if name in data}


def _plain(name: str) -> str:
    """Return the name of a file in the entry's own folder; refuse any other place."""
    if name in ("", "..") or PurePosixPath(name).name != name:
        raise ValueError(f"{name!r} is not the name of a file")
    return name


@dataclass(frozen=True)
class Entry:
    """A folder that holds a finished build."""

    path: Path
    manifest: Manifest

    @property
    def module(self) -> Path:
        return self.path / MODULE

    @property
    def archs(self) -> tuple[Arch, ...]:
        return tuple(Arch.parse(text) for text in self.manifest.archs)

    @classmethod
    def read(cls, path: Path) -> Entry:
        """Return the entry at `path`; raise Unusable if its manifest cannot be trusted or read."""
        try:
            text = rooted.read(path / MANIFEST).decode()
        except (OSError, UnicodeDecodeError) as error:
            raise Corrupt(f"unreadable manifest: {error}") from error
        return cls(path, Manifest.from_json(text))

    @classmethod
    def whole(cls, path: Path) -> Entry | None:
        """Return the entry at `path` if its files are as published, else None."""
        try:
            entry = cls.read(path)
            entry.verify()
        except Unusable:
            return None
        return entry

    def verify(self, everything: bool = False, hashed: bool = True) -> None:
        """Raise Corrupt unless the files are as published; without `hashed`, compare sizes alone."""
        for name, stamp in self.manifest.files.items():
            try:
                _compare(self.path / name, stamp, everything, hashed)
            except OSError as error:
                raise Corrupt(f"{name}: {error.strerror}") from error


def _compare(path: Path, stamp: FileStamp, everything: bool, hashed: bool) -> None:
    stat = path.stat()
    if stat.st_size != stamp.size:
        raise Corrupt(f"{path.name} has {stat.st_size} bytes, published with {stamp.size}")
    untouched = stamp.size > FULL_HASH_BYTES and stat.st_mtime_ns == stamp.mtime_ns
    if hashed and (everything or not untouched) and sha256(path) != stamp.sha256:
        raise Corrupt(f"{path.name} has other bytes than were published")


def sha256(path: Path) -> str:
    import hashlib

    return hashlib.sha256(rooted.read(path)).hexdigest()
