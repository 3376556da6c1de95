"""The index of a bucket's snapshots: how a client of a server without listings sees what is there.

It is a hint that nobody signs, so that a mirror can write it without a key: what it names is fetched
by its hash and believed for its signature alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from fictl.errors import shown
from fictl.jit.remote.bucket import BadAnswer, Bucket, NotThere
from fictl.jit.remote.document import is_sha256
from fictl.ship.artifacts.names import FOLDER, is_snapshot_name, is_time, parsed, path_of

INDEX = f"{FOLDER}/index.json"
SCHEMA = "fictl.snapshots/1"
_LARGEST = 8 << 20


@dataclass(frozen=True)
class Indexed:
    """One snapshot as the index describes it: its name, its hash, its time, its builds and bytes."""

    name: str
    sha256: str
    created: str
    builds: int
    size: int

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
        if data["schema"] != SCHEMA:
            raise BadAnswer(f"{INDEX} has the schema {shown(repr(data['schema']))}, not {SCHEMA}")
        entries = {_entry(entry) for entry in data["snapshots"]}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadAnswer(f"{INDEX} cannot be read: {shown(str(error))}") from None
    return newest_first(entries)


def write_index(bucket: Bucket, entries: Iterable[Indexed]) -> None:
    """Add entries to the index; drop those that the bucket no longer has, if it can list them."""
    before = read_index(bucket)
    there = {*_listed(bucket)} if bucket.lists else {entry.path for entry in before}
    known = {entry.path: entry for entry in before if entry.path in there}
    known |= {entry.path: entry for entry in entries}
    after = newest_first(known.values())
    if after != before:
        document = {"schema": SCHEMA, "snapshots": [entry.to_dict() for entry in after]}
        bucket.write(INDEX, (json.dumps(document, indent=1) + "\n").encode())


def newest_first(entries: Iterable[Indexed]) -> tuple[Indexed, ...]:
    return tuple(sorted(entries, key=lambda one: (one.created, one.name, one.sha256), reverse=True))


def _listed(bucket: Bucket) -> Iterator[str]:
    return (item.name for item in bucket.listed(FOLDER) if parsed(item.name))


def _entry(data: dict[str, Any]) -> Indexed:
    entry = Indexed(**{name: data[name] for name in Indexed.__dataclass_fields__})
    if not (
        is_snapshot_name(entry.name) and is_sha256(entry.sha256) and _TIME.fullmatch(entry.created)
    ):
        raise ValueError(f"{entry} does not describe a snapshot")
    if not all(type(number) is int and number >= 0 for number in (entry.builds, entry.size)):
        raise ValueError(f"{entry} has counts that are not whole numbers")
    return entry
