"""Removal of old builds from a remote, then of the files that nothing names any more.

A blob or a signature without a document may belong to a build that is being sent: both have a grace.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from fictl.jit.remote.bucket import BadAnswer, Bucket, Listed, NotThere
from fictl.jit.remote.catalog import INDEX, Candidate, index_of
from fictl.jit.remote.contents import Contents, contents_of
from fictl.jit.remote.document import LARGEST
from fictl.jit.remote.folder import FolderBucket
from fictl.jit.remote.mark import require_ours

GRACE_SECONDS = 7 * 86400.0
_AT_ONCE = 32
_LARGEST_SNAPSHOT = 64 << 20
_SHA256 = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


@dataclass(frozen=True)
class Swept:
    """Names that were removed (or would be), by kind, and the bytes that are left.

    unfinished: files of killed writers.
    """

    url: str
    documents: tuple[Listed, ...]
    signatures: tuple[Listed, ...]
    blobs: tuple[Listed, ...]
    left: int
    unfinished: tuple[Listed, ...] = ()

    @property
    def removed(self) -> tuple[Listed, ...]:
        return (*self.documents, *self.signatures, *self.blobs, *self.unfinished)

    @property
    def freed(self) -> int:
        return sum(entry.size for entry in self.removed)


def sweep(bucket: Bucket, older_than: float | None = None, dry_run: bool = False) -> Swept:
    """Remove builds sent longer ago than `older_than` seconds, then what no document names."""
    require_ours(bucket, make=False)
    contents, now = contents_of(bucket), time.time()
    old = {
        it: entry
        for it, entry in contents.documents.items()
        if older_than is not None and now - entry.changed > older_than
    }
    kept = [it for it in contents.documents if it not in old]
    named = _named_blobs(bucket, kept, contents)
    blobs = [
        entry
        for sha256, entry in contents.blobs.items()
        if sha256 not in named and now - entry.changed > GRACE_SECONDS
    ]
    signatures = _signatures(contents, old, kept, now)
    left = contents.size - sum(entry.size for entry in (*old.values(), *signatures, *blobs))
    kinds = tuple(old.values()), tuple(signatures), tuple(blobs)
    swept = Swept(bucket.url, *kinds, left, _unfinished(bucket, now))
    if not dry_run:
        _remove(bucket, swept, {it.folder for it in old}, kept)
    return swept


def _signatures(
    contents: Contents, old: Iterable[Candidate], kept: list[Candidate], now: float
) -> list[Listed]:
    """Return the signatures of old documents, and those that never got a document."""
    with_document = {it.signature(key) for it in kept for key in it.keys}
    going = {it.signature(key) for it in old for key in it.keys}
    return [
        entry
        for name, entry in contents.signatures.items()
        if name in going or (name not in with_document and now - entry.changed > GRACE_SECONDS)
    ]


def _unfinished(bucket: Bucket, now: float) -> tuple[Listed, ...]:
    """Return what killed writers left in a folder; other buckets keep no part of a file."""
    if not isinstance(bucket, FolderBucket):
        return ()
    return tuple(entry for entry in bucket.unfinished() if now - entry.changed > GRACE_SECONDS)


def _named_blobs(bucket: Bucket, kept: Iterable[Candidate], contents: Contents) -> set[str]:
    """Return every hash in a document that stays: one that cannot be read stops the removal."""

    def hashes(name: str, largest: int) -> set[str]:
        try:
            data = bucket.read(name, largest)
        except (NotThere, BadAnswer):
            return set()  # Gone meanwhile, or larger than any document: no reader takes it.
        return {match.decode() for match in _SHA256.findall(data)}

    names = [(it.name, LARGEST) for it in kept]
    names += [(name, _LARGEST_SNAPSHOT) for name in contents.snapshots]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return set().union(*pool.map(lambda job: hashes(*job), names))


def _remove(bucket: Bucket, swept: Swept, folders: set[str], kept: list[Candidate]) -> None:
    """Remove documents first, then what they named; a reader meanwhile has a miss."""
    for folder in sorted(folders):
        staying = [it for it in kept if it.folder == folder]
        names = [it.name for it in staying]
        names += [it.signature(key) for it in staying for key in it.keys]
        if names:
            bucket.write(f"{folder}/{INDEX}", index_of(name.rpartition("/")[2] for name in names))
        else:
            bucket.delete(f"{folder}/{INDEX}")
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for kind in (swept.documents, swept.signatures, swept.blobs, swept.unfinished):
            list(pool.map(lambda entry: bucket.delete(entry.name), kind))
