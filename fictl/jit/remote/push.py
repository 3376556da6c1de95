"""Send a build to a bucket: its files, then the signature, then the document that names them.

A reader that sees a document sees all of the build. A writer that is killed leaves files that nothing
names, which `cache gc --remote` removes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from fictl import settings
from fictl.errors import SetupError
from fictl.jit.remote import catalog
from fictl.jit.remote.bucket import BadAnswer, Bucket, NotThere
from fictl.jit.remote.catalog import Candidate, candidates, names_in, signature_name
from fictl.jit.remote.document import LARGEST, Document, blob_name
from fictl.jit.remote.folder import FolderBucket
from fictl.jit.remote.vouched import Vouched
from fictl.jit.store.entry import FileStamp
from fictl.trust.keys_file import TrustedKey
from fictl.trust.secret_key import SecretKey, signing_key
from fictl.trust.signature import LARGEST as LARGEST_SIGNATURE
from fictl.trust.verdict import judge

# Facts about who sent a build: two documents that differ in these alone are of the same build.
_SENDER = ("source", "builder")


@dataclass(frozen=True)
class Sent:
    """Result of sending one build: the files and bytes that went, 0 if all were there already."""

    project: str
    module: str
    build: str
    url: str
    blobs: int = 0
    bytes: int = 0
    already: bool = False


def key_for(bucket: Bucket) -> SecretKey | None:
    """Return the key to sign with; only a folder of the user's own may do without."""
    key = signing_key()
    if key is None and not bucket.is_own():
        raise SetupError(
            f"builds at {bucket.url} have to be signed, and there is no signing key",
            f"fictl trust new-key makes one; {settings.SIGNING_KEY.name} names its file",
        )
    return key


def own_keys(key: SecretKey | None) -> tuple[TrustedKey, ...]:
    """Return the key as one whose signatures count."""
    return (TrustedKey("own", key.public),) if key else ()


def push(bucket: Bucket, it: Vouched, folder: Path, keys: tuple[TrustedKey, ...]) -> Sent:
    """Send one build, whose files lie in `folder`, unless the bucket has it, signed by one of `keys`."""
    document, manifest = it.document, it.document.manifest
    names = names_in(bucket, document.folder)
    known = candidates(document.folder, names)
    blobs, size = _send_files(bucket, document, folder)
    already = any(_is_same(bucket, candidate, it, keys) for candidate in known)
    if not already:
        names += _send_document(bucket, it)
    _write_index(bucket, document.folder, names)
    return Sent(manifest.project, manifest.module, manifest.build, bucket.url, blobs, size, already)


def _send_document(bucket: Bucket, it: Vouched) -> list[str]:
    """Write the signature, then the document; return their names in the folder."""
    names = [it.document.name]
    if it.signature:
        names.insert(0, signature_name(it.document.name, it.key_id))
        bucket.write(names[0], it.signature.encode())
    bucket.write(it.document.name, it.document.data)
    return [name.rpartition("/")[2] for name in names]


def _send_files(bucket: Bucket, document: Document, folder: Path) -> tuple[int, int]:
    """Send the files that are not there, or have another size than their name's; count them.

    In a folder, other bytes are seen, too: to read them costs little there.
    """
    sent = size = 0
    for name, stamp in document.manifest.files.items():
        if not _has(bucket, stamp):
            bucket.send(blob_name(stamp.sha256), folder / name)
            sent, size = sent + 1, size + stamp.size
    return sent, size


def _has(bucket: Bucket, stamp: FileStamp) -> bool:
    name = blob_name(stamp.sha256)
    if bucket.size(name) != stamp.size:
        return False
    return not isinstance(bucket, FolderBucket) or bucket.has_bytes(name, stamp.sha256)


def _is_same(
    bucket: Bucket, candidate: Candidate, it: Vouched, keys: tuple[TrustedKey, ...]
) -> bool:
    """True for a document of the same build that one of the keys signed: then nothing is added."""
    if candidate.build != it.document.manifest.build or (
        it.key_id and it.key_id not in candidate.keys
    ):
        return False
    try:
        data = bucket.read(candidate.name, LARGEST)
        same = _without_sender(data) == _without_sender(it.document.data)
        return same and (not it.key_id or _is_signed(bucket, candidate, data, it, keys))
    except (NotThere, BadAnswer, ValueError, AttributeError, RecursionError):
        return False


def _is_signed(
    bucket: Bucket, candidate: Candidate, data: bytes, it: Vouched, keys: tuple[TrustedKey, ...]
) -> bool:
    text = bucket.read(candidate.signature(it.key_id), LARGEST_SIGNATURE).decode()
    project = it.document.manifest.project
    return judge(data, text, keys, [project], it.document.comment).is_trusted


def _without_sender(data: bytes) -> dict[str, object]:
    plain = json.loads(data)
    return {name: value for name, value in plain.items() if name not in _SENDER}


def _write_index(bucket: Bucket, folder: str, names: list[str]) -> None:
    """Write the list for readers over http, where it lacks a name: the only object that changes."""
    index = catalog.index_of(names)
    if bucket.size(f"{folder}/{catalog.INDEX}") != len(index):
        bucket.write(f"{folder}/{catalog.INDEX}", index)
