"""The index of a bucket's snapshots: how a client of a server without listings sees what is there.

It is a hint that nobody signs, so that a mirror can write it without a key: what it names is fetched
by its hash, and believed for its signature alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

from fictl.errors import FictlError, shown
from fictl.jit.remote.bucket import BadAnswer, Bucket, NotThere
from fictl.jit.remote.document import is_sha256
from fictl.ship.artifacts.names import FOLDER, is_snapshot_name, is_time, parsed, path_of
from fictl.ship.artifacts.snapshot import LARGEST, Snapshot, read_snapshot

INDEX = f"{FOLDER}/index.json"
SCHEMA = "fictl.snapshots/1"
_LARGEST = 8 << 20


class NewerIndex(BadAnswer):
    """A newer fictl wrote the index: it is for others, and not to be replaced."""


@dataclass(frozen=True)
class Indexed:
    """One snapshot as the index describes it: its name, hash and time, and how much it has."""

    name: str
    sha256: str
    created: str
    builds: int
    size: int

    @classmethod
    def describe(cls, snapshot: Snapshot) -> Indexed:
        builds = len(snapshot.documents) + snapshot.newer
        return cls(snapshot.name, snapshot.sha256, snapshot.created, builds, snapshot.size)

    @property
    def path(self) -> str:
        return path_of(self.name, self.sha256)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def read_index(bucket: Bucket) -> tuple[Indexed, ...]:
    """Return the snapshots of a bucket, newest first; none without an index."""
    try:
        text = bucket.read(INDEX, _LARGEST)
    except NotThere:
        return ()
    try:
        data = json.loads(text)
        _require_schema(data)
        return newest_first({_entry(entry) for entry in data["snapshots"]})
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadAnswer(f"{INDEX} cannot be read: {shown(str(error))}") from None


def require_index(bucket: Bucket) -> tuple[Indexed, ...]:
    """Return the snapshots of a bucket; raise in words where its index cannot be read."""
    try:
        return read_index(bucket)
    except BadAnswer as error:
        raise _unlisted(bucket, error) from None


def replaceable_index(bucket: Bucket) -> tuple[Indexed, ...] | None:
    """Return what `write_index` begins with; None for an index that is damaged, and made again."""
    try:
        return read_index(bucket)
    except NewerIndex as error:
        raise _unlisted(bucket, error) from None
    except BadAnswer:
        return None


def write_index(bucket: Bucket, added: Iterable[Indexed]) -> None:
    """Add snapshots to the index. Where the bucket can list, it is made again of what is there, so
    that an entry that another writer lost comes back.
    """
    before = replaceable_index(bucket)
    known = {entry.path: entry for entry in (*(before or ()), *added)}
    after = newest_first(_there(bucket, known) if bucket.lists else known.values())
    if after != before:
        document = {"schema": SCHEMA, "snapshots": [entry.to_dict() for entry in after]}
        bucket.write(INDEX, (json.dumps(document, indent=1) + "\n").encode())


def _unlisted(bucket: Bucket, error: BadAnswer) -> FictlError:
    hint = "fictl artifacts push, or mirror, to it writes the index again"
    if isinstance(error, NewerIndex):
        hint = "update fictl"
    return FictlError(f"{bucket.url} cannot be listed: {error}", hint)


def newest_first(entries: Iterable[Indexed]) -> tuple[Indexed, ...]:
    return tuple(sorted(entries, key=lambda one: (one.created, one.name, one.sha256), reverse=True))


def _there(bucket: Bucket, known: dict[str, Indexed]) -> Iterator[Indexed]:
    for path in (item.name for item in bucket.listed(FOLDER) if parsed(item.name)):
        entry = known.get(path) or _described(bucket, path)
        if entry is not None:
            yield entry


def _described(bucket: Bucket, path: str) -> Indexed | None:
    try:
        entry = Indexed.describe(read_snapshot(bucket.read(path, LARGEST)))
    except (BadAnswer, NotThere):
        return None
    return entry if entry.path == path else None


def _require_schema(data: dict[str, Any]) -> None:
    schema = data["schema"]
    if schema == SCHEMA:
        return
    kind, _, number = str(schema).rpartition("/")
    text = f"its schema is {shown(repr(schema))}, not {SCHEMA}"
    if kind == SCHEMA.rpartition("/")[0] and number.isdecimal():
        raise NewerIndex(f"{INDEX} cannot be read: {text}")
    raise ValueError(text)


def _entry(data: dict[str, Any]) -> Indexed:
    entry = Indexed(**{field.name: data[field.name] for field in fields(Indexed)})
    if not (is_snapshot_name(entry.name) and is_sha256(entry.sha256) and is_time(entry.created)):
        raise ValueError(f"{entry} does not describe a snapshot")
    if not all(type(number) is int and number >= 0 for number in (entry.builds, entry.size)):
        raise ValueError(f"{entry} has counts that are not whole numbers")
    return entry
