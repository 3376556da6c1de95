"""Contents of a remote by the names of its files: documents with their signatures, and blobs."""

from __future__ import annotations

from dataclasses import dataclass

from fictl.errors import UsageError
from fictl.jit.remote.bucket import Bucket, Listed
from fictl.jit.remote.catalog import INDEX, Candidate, candidates
from fictl.jit.remote.document import is_sha256

BUILDS, BLOBS, SNAPSHOTS = "builds", "blobs/sha256", "snapshots"


@dataclass(frozen=True)
class Contents:
    """All names of a remote, by kind; `documents` are those of builds, with the time they came."""

    documents: dict[Candidate, Listed]
    signatures: dict[str, Listed]
    indexes: dict[str, Listed]
    snapshots: dict[str, Listed]
    blobs: dict[str, Listed]

    @property
    def size(self) -> int:
        kinds = (self.documents, self.signatures, self.indexes, self.snapshots, self.blobs)
        return sum(entry.size for kind in kinds for entry in kind.values())


def contents_of(bucket: Bucket) -> Contents:
    """List the whole remote, page by page."""
    if not bucket.lists:
        raise UsageError(
            f"{bucket.url} is a web server, which cannot list what it has",
            "name the bucket behind it, as in s3://bucket/prefix",
        )
    listed = {entry.name: entry for entry in bucket.listed("")}
    folders: dict[str, list[str]] = {}
    for name in listed:
        folder, _, file = name.rpartition("/")
        if folder.startswith(f"{BUILDS}/"):
            folders.setdefault(folder, []).append(file)
    ours = [it for folder, files in sorted(folders.items()) for it in candidates(folder, files)]
    documents = {it: listed[it.name] for it in ours}
    under_builds = {f"{folder}/{file}" for folder, files in folders.items() for file in files}
    indexes = {name for name in under_builds if name.endswith(f"/{INDEX}")}
    named = {it.name for it in ours} | indexes
    return Contents(
        documents,
        {name: listed[name] for name in under_builds - named if name.endswith(".minisig")},
        {name: listed[name] for name in indexes},
        {name: entry for name, entry in listed.items() if name.startswith(f"{SNAPSHOTS}/")},
        {name[-64:]: entry for name, entry in listed.items() if _is_blob(name)},
    )


def _is_blob(name: str) -> bool:
    sha256 = name.rpartition("/")[2]
    return is_sha256(sha256) and name == f"{BLOBS}/{sha256[:2]}/{sha256}"
