"""A snapshot: the documents of all its builds in one, with every file's hash and size.

It is canonical JSON, lies under its name and its own hash, and is signed as a whole. The place of a
file follows from its build and its hash, so that there is no path in it that could lead elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fictl.errors import shown
from fictl.jit.remote.bucket import BadAnswer
from fictl.jit.remote.document import Document, canonical, is_sha256, read_document
from fictl.jit.store.entry import MODULE, Newer
from fictl.ship.artifacts.names import is_snapshot_name, is_time, path_of, spelled_time
from fictl.version import VERSION

SCHEMA = "fictl.snapshot/1"
LARGEST = 64 << 20
_MOST_BUILDS = 20_000
_LARGEST_FILE = 2 << 30


@dataclass(frozen=True)
class Snapshot:
    """A snapshot's bytes and their meaning.

    newer: how many builds only a newer fictl can read. files: sizes by hash, those builds included.
    """

    data: bytes
    name: str
    created: str
    documents: tuple[Document, ...]
    newer: int
    files: Mapping[str, int]

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def path(self) -> str:
        """Return its name in a bucket."""
        return path_of(self.name, self.sha256)

    @property
    def comment(self) -> str:
        """Return the comment that is signed with it."""
        return f"fictl.snapshot {self.name}"

    @property
    def projects(self) -> tuple[str, ...]:
        return tuple(sorted({document.manifest.project for document in self.documents}))

    @property
    def size(self) -> int:
        return sum(self.files.values())


def make_snapshot(name: str, documents: Iterable[Document], now: float) -> Snapshot:
    """Make a snapshot of builds, in an order of its own."""
    ordered = sorted(documents, key=_key)
    data = {
        "schema": SCHEMA,
        "name": name,
        "created": spelled_time(now),
        "fictl": VERSION,
        "builds": [json.loads(document.data) for document in ordered],
    }
    return read_snapshot(canonical(data))


def read_snapshot(data: bytes) -> Snapshot:
    """Read a snapshot from anywhere; raise BadAnswer unless it is one in every respect."""
    try:
        plain = json.loads(data)
        _require_schema(plain["schema"])
        _check_form(plain, data)
        name, created, builds = plain["name"], plain["created"], plain["builds"]
        files = _files(builds)
        documents = tuple(filter(None, map(_document, builds)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadAnswer(f"it is not a snapshot: {shown(str(error))}") from None
    keys = [_key(document) for document in documents]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise BadAnswer(f"it is not a snapshot: it has the build {'/'.join(twice)} twice")
    return Snapshot(data, name, created, documents, len(builds) - len(documents), files)


def module_hash(document: Document) -> str:
    return document.manifest.files[MODULE].sha256


def _require_schema(schema: object) -> None:
    if schema != SCHEMA:
        kind, _, number = str(schema).rpartition("/")
        if kind == SCHEMA.rpartition("/")[0] and number.isdigit():
            raise ValueError(f"a newer fictl made it: its schema is {shown(str(schema))}")
        raise ValueError(f"its schema is {shown(repr(schema))}, not {SCHEMA}")


def _check_form(plain: Mapping[str, Any], data: bytes) -> None:
    if canonical(dict(plain)) != data:
        raise ValueError("it is not spelled as fictl spells it")
    if not is_snapshot_name(plain["name"]) or not is_time(plain["created"]):
        raise ValueError("its name or its time is not one")
    if len(plain["builds"]) > _MOST_BUILDS:
        raise ValueError(f"it has {len(plain['builds'])} builds, and {_MOST_BUILDS} is the most")


def _document(build: dict[str, Any]) -> Document | None:
    """Read one build; None if only a newer fictl can."""
    try:
        document = read_document(canonical(dict(build)))
    except Newer:
        return None
    except BadAnswer as error:
        raise ValueError(f"of its build {shown(repr(build.get('module')))}: {error}") from None
    if MODULE not in document.manifest.files:
        raise ValueError(f"its build of {shown(document.manifest.module)} has no {MODULE}")
    return document


def _files(builds: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the sizes of all files by hash; two sizes for one hash are refused."""
    files: dict[str, int] = {}
    for stamp in (stamp for build in builds for stamp in build["files"].values()):
        sha256, size = stamp["sha256"], stamp["size"]
        if not is_sha256(sha256) or type(size) is not int or not 0 <= size <= _LARGEST_FILE:
            raise ValueError(f"{shown(repr(stamp))} is not the hash and the size of a file")
        if files.setdefault(sha256, size) != size:
            raise ValueError(f"{sha256} has {size} bytes, and {files[sha256]}")
    return files


def _key(document: Document) -> tuple[str, str, str, str]:
    manifest = document.manifest
    return manifest.project, manifest.module, manifest.recipe, manifest.build
