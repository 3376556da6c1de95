"""The blobs of a bucket: which are there whole, and how absent ones get there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fictl.jit.remote.bucket import Bucket
from fictl.jit.remote.document import blob_name
from fictl.jit.remote.folder import FolderBucket
from fictl.ship.artifacts.transfer import each_of

_BLOBS = "blobs"


def absent(bucket: Bucket, files: Mapping[str, int]) -> list[str]:
    """List the hashes of files that a bucket lacks, or has in another size or, in a folder, with
    other bytes.
    """
    hashes = sorted(files)
    if bucket.lists:
        sizes = {entry.name: entry.size for entry in bucket.listed(_BLOBS)}
        there = [sizes.get(blob_name(sha256)) for sha256 in hashes]
    else:
        there = [*each_of(hashes, lambda sha256: bucket.size(blob_name(sha256)))]
    right = [sha for sha, size in zip(hashes, there, strict=True) if size == files[sha]]
    if isinstance(bucket, FolderBucket):
        right = [sha256 for sha256 in right if bucket.has_bytes(blob_name(sha256), sha256)]
    return sorted(set(hashes).difference(right))


def total(files: Mapping[str, int], hashes: Iterable[str]) -> int:
    return sum(files[sha256] for sha256 in hashes)
