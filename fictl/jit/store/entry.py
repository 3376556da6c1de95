"""One build in a store. It exists once its manifest, the last file, is written."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fictl import rooted
from fictl.arch import Arch
from fictl.sealed import seal, unseal

SCHEMA = "fictl.build/1"
MANIFEST = "manifest.json"
MODULE = "module.so"

# Up to this size a file is hashed at every load; above, only if its mtime has changed:
# a copy of a store need not keep mtimes.
FULL_HASH_BYTES = 6 << 20


class Corrupt(Exception):
    """The entry differs from its manifest."""


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


@dataclass(frozen=True)
class Manifest:
    """All recorded facts about a build."""

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
    schema: str = SCHEMA

    def to_json(self) -> str:
        return seal(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        try:
            schema = json.loads(text)["schema"]
            if schema != SCHEMA:
                raise Corrupt(f"schema {schema!r}, expected {SCHEMA!r}")
            data = unseal(text, required=False)
            data["archs"] = tuple(str(Arch.parse(arch)) for arch in data["archs"])
            data["files"] = {name: FileStamp(**stamp) for name, stamp in data["files"].items()}
            return cls(**data)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Corrupt(f"unreadable manifest: {error!r}") from error


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
        """Return the entry at `path`; raise Corrupt if its manifest cannot be trusted."""
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
        except Corrupt:
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
