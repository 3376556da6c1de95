"""Pushing: a snapshot of this machine's folder, to a URL that mirrors and machines read."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fictl import settings
from fictl.errors import SetupError, UsageError
from fictl.jit.remote.bucket import Bucket
from fictl.jit.remote.document import blob_name
from fictl.jit.remote.mark import require_ours
from fictl.jit.remote.url import open_bucket
from fictl.jit.store.entry import Entry
from fictl.quantity import counted
from fictl.ship.artifacts.blobs import absent, total
from fictl.ship.artifacts.folder import ArtifactsFolder
from fictl.ship.artifacts.index import Indexed, write_index
from fictl.ship.artifacts.signed import Signed, write_signed
from fictl.ship.artifacts.snapshot import Snapshot, module_hash
from fictl.ship.artifacts.transfer import TransferObserver, each_of
from fictl.trust.secret_key import signing_key


@dataclass(frozen=True)
class Pushed:
    """The snapshot, and how many files were sent or were there."""

    snapshot: Snapshot
    url: str
    is_signed: bool
    sent: int
    present: int
    size: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        return {
            "snapshot": self.snapshot.name,
            "sha256": self.snapshot.sha256,
            "url": self.url,
            "signed": self.is_signed,
            "sent": self.sent,
            "present": self.present,
            "size": self.size,
            "seconds": round(self.seconds, 3),
        }


def push(
    name: str,
    sha256: str,
    url: str,
    folder: ArtifactsFolder,
    observer: TransferObserver,
    dry_run: bool = False,
) -> Pushed:
    """Send a snapshot; in a dry run, only ask what the bucket has."""
    begin = time.monotonic()
    signed = _signed(name, sha256, folder)
    bucket = open_bucket(url)
    _require_signature(signed, bucket)
    entries = _entries(signed.snapshot, folder)
    if not dry_run:
        require_ours(bucket)
    files = signed.snapshot.files
    missing = absent(bucket, files)
    if not dry_run:
        folder.save(signed)
        _send(signed, entries, missing, bucket, observer)
    return Pushed(
        signed.snapshot,
        bucket.url,
        bool(signed.signature),
        len(missing),
        len(files) - len(missing),
        total(files, missing),
        time.monotonic() - begin,
    )


def _send(
    signed: Signed,
    entries: Mapping[str, Entry],
    missing: Sequence[str],
    bucket: Bucket,
    observer: TransferObserver,
) -> None:
    """Send blobs, then the signature, then the snapshot, then the index: what a reader sees is whole."""
    files = signed.snapshot.files
    doing = f"pushing {signed.snapshot.name} to {bucket.url}"
    observer.planned(doing, len(missing), total(files, missing))

    def send(sha256: str) -> None:
        bucket.send(blob_name(sha256), entries[sha256].module)
        observer.moved(files[sha256])

    for _ in each_of(missing, send):
        pass
    write_signed(bucket, signed)
    write_index(bucket, [Indexed.describe(signed.snapshot)])


def _signed(name: str, sha256: str, folder: ArtifactsFolder) -> Signed:
    """Return the snapshot to send, signed if there is a key."""
    signed = folder.newest(name, sha256)
    if signed is None:
        known = {one.snapshot.name: None for one in folder.snapshots()}
        raise UsageError(
            f"{folder.root} has no snapshot {name}{f'@{sha256}' if sha256 else ''}",
            f"it has {', '.join(known)}" if known else f"fictl artifacts build {name} makes it",
        )
    key = signing_key()
    if key is None or signed.signature:
        return signed
    return signed.signed_with(key)


def _require_signature(signed: Signed, bucket: Bucket) -> None:
    if not signed.signature and not bucket.is_own():
        raise SetupError(
            f"the snapshot {signed.snapshot.name} is not signed, and nobody would use it from "
            f"{bucket.url}",
            f"set {settings.SIGNING_KEY.name} to a secret key: fictl trust new-key makes one",
        )


def _entries(snapshot: Snapshot, folder: ArtifactsFolder) -> dict[str, Entry]:
    """Return the builds by the hash of their module; refuse to send a part of a snapshot."""
    entries = {module_hash(one): folder.entry(one) for one in snapshot.documents}
    whole = {sha256: entry for sha256, entry in entries.items() if entry is not None}
    lacking = len(snapshot.files) - len(whole)
    if lacking:
        raise UsageError(
            f"{counted(lacking, 'build')} of {snapshot.name} is not whole in {folder.root}",
            "a snapshot that was pulled for one machine is copied by fictl artifacts mirror; "
            f"one that was built here is made again by fictl artifacts build {snapshot.name}",
        )
    return whole
