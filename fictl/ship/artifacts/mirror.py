"""Mirroring: snapshots from one URL to another; needs no key, and hashes every byte it copies."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fictl.errors import FictlError, UsageError
from fictl.jit.remote.bucket import BadAnswer, Bucket, NotThere, RemoteFailed
from fictl.jit.remote.document import blob_name
from fictl.jit.remote.mark import require_ours
from fictl.jit.remote.url import open_bucket
from fictl.quantity import counted
from fictl.ship.artifacts.blobs import absent, total
from fictl.ship.artifacts.index import (
    Indexed,
    replaceable_index,
    require_index,
    write_index,
)
from fictl.ship.artifacts.names import joined, split
from fictl.ship.artifacts.signed import OWN, STRANGER, Signed, Untrusted, read_signed, write_signed
from fictl.ship.artifacts.transfer import TransferObserver, each_of, fetch, spell
from fictl.trust.verdict import TRUSTED


@dataclass
class Mirrored:
    """Snapshots that were copied, that were there already, and that could not be copied, and why."""

    source: str
    target: str
    copied: list[Indexed] = field(default_factory=list)
    present: list[Indexed] = field(default_factory=list)
    failed: list[tuple[Indexed, str]] = field(default_factory=list)
    files: int = 0
    size: int = 0
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "from": self.source,
            "to": self.target,
            "copied": [entry.to_dict() for entry in self.copied],
            "present": [entry.to_dict() for entry in self.present],
            "failed": [{**entry.to_dict(), "reason": reason} for entry, reason in self.failed],
            "files": self.files,
            "size": self.size,
            "seconds": round(self.seconds, 3),
        }

    @property
    def error(self) -> FictlError | None:
        if not self.failed:
            return None
        entry, reason = self.failed[0]
        return FictlError(
            f"{counted(len(self.failed), 'snapshot')} could not be copied: {entry.name}@"
            f"{entry.sha256[:12]}: {reason}",
            "what was copied is whole; once more copies only what is missing",
        )


def mirror(
    source_url: str,
    target_url: str,
    names: Sequence[str],
    observer: TransferObserver,
    dry_run: bool = False,
) -> Mirrored:
    """Copy the named snapshots, NAME or NAME@SHA256, or all of them; copy only what differs.

    A dry run ends with what would be copied.
    """
    begin = time.monotonic()
    source, target = open_bucket(source_url), open_bucket(target_url)
    entries = _named(source, names)
    if not dry_run:
        require_ours(target)
    before = {entry.path for entry in replaceable_index(target) or ()}
    result = Mirrored(source.url, target.url)
    for entry in entries:
        try:
            described, files, size = _copy(source, target, entry, observer, dry_run)
        except (BadAnswer, NotThere, RemoteFailed, Untrusted) as error:
            result.failed.append((entry, _reason(error)))
            continue
        is_known = files == 0 and entry.path in before
        (result.present if is_known else result.copied).append(described)
        result.files, result.size = result.files + files, result.size + size
    if not dry_run:
        write_index(target, [*result.copied, *result.present])
    result.seconds = time.monotonic() - begin
    return result


def _named(source: Bucket, names: Sequence[str]) -> list[Indexed]:
    entries = require_index(source)
    if not entries:
        raise UsageError(
            f"{source.url} has no index of snapshots",
            "fictl artifacts push writes it; a folder of artifacts itself is sent by push",
        )
    wanted = [split(name) for name in names]
    chosen = [entry for entry in entries if not wanted or _is_wanted(entry, wanted)]
    for name, sha256 in wanted:
        if not any(_is_wanted(entry, [(name, sha256)]) for entry in chosen):
            raise UsageError(
                f"{source.url} has no snapshot {joined(name, sha256)}",
                f"it has {', '.join(sorted({entry.name for entry in entries}))}",
            )
    return chosen


def _is_wanted(entry: Indexed, wanted: Sequence[tuple[str, str]]) -> bool:
    return any(name == entry.name and sha256 in ("", entry.sha256) for name, sha256 in wanted)


def _copy(
    source: Bucket, target: Bucket, entry: Indexed, observer: TransferObserver, dry_run: bool
) -> tuple[Indexed, int, int]:
    """Copy one snapshot; return what it is, and how many files and bytes that took.

    The source's index says nothing here: nobody has signed it.
    """
    signed = read_signed(source, entry.path)
    _require_no_fault(signed, source, target, observer.note)
    files = signed.snapshot.files
    described = Indexed.describe(signed.snapshot)
    missing = absent(target, files)
    size = total(files, missing)
    if dry_run:
        return described, len(missing), size
    observer.planned(f"copying {entry.name} to {target.url}", len(missing), size)
    with tempfile.TemporaryDirectory(prefix="fictl-mirror-") as folder:

        def copy(sha256: str) -> None:
            passing = Path(folder, sha256)
            fetch(source, sha256, files[sha256], passing)
            target.send(blob_name(sha256), passing)
            passing.unlink()
            observer.moved(files[sha256])

        for _ in each_of(missing, copy):
            pass
    write_signed(target, signed)
    return described, len(missing), size


def _require_no_fault(
    signed: Signed, source: Bucket, target: Bucket, note: Callable[[str], None]
) -> None:
    """Refuse what a known key did not sign, and what nobody signed: in a folder it would look own.

    A signature by a key that is not known here goes along: readers decide.
    """
    verdict = signed.verdict()
    if verdict.kind == TRUSTED or (verdict.kind == OWN and target.is_own()):
        return
    if verdict.kind == OWN:
        raise Untrusted(f"it is not signed, and nobody would use it from {target.url}")
    if verdict.kind != STRANGER:
        signed.require_trusted(source.url)
    note(f"{signed.snapshot.name}: its signature is not checked here: {verdict.text}")


def _reason(error: Exception) -> str:
    if isinstance(error, NotThere):
        return f"{error} is missing"
    return error.message if isinstance(error, Untrusted) else spell(error)
