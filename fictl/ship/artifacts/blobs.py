"""The blobs of a bucket: which are there whole, and how absent ones get there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from fictl import rooted
from fictl.jit.remote.bucket import Bucket
from fictl.jit.remote.document import blob_name
from fictl.jit.remote.folder import FolderBucket
from fictl.ship.artifacts.transfer import each_of

_BLOBS = "blobs"
_CHUNK = 1 << 20


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
        right = [sha256 for sha256 in right if _hash(bucket, sha256) == sha256]
    return sorted(set(hashes).difference(right))


def total(files: Mapping[str, int], hashes: Iterable[str]) -> int:
    return sum(files[sha256] for sha256 in hashes)


def _hash(bucket: FolderBucket, sha256: str) -> str:
    digest = hashlib.sha256()
    with rooted.opened(bucket.root, bucket.root / blob_name(sha256)) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
