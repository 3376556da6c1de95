"""Take one build from a bucket: who vouches for it, what it is, and its bytes, in this order."""

from __future__ import annotations

import hashlib
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from fictl.jit.remote.bucket import BadAnswer, Bucket, NotThere
from fictl.jit.remote.catalog import Candidate
from fictl.jit.remote.document import LARGEST, Document, read_document
from fictl.jit.remote.vouched import Vouched
from fictl.jit.store.entry import MANIFEST, Entry, FileStamp
from fictl.jit.store.shareable import unshared_variant
from fictl.jit.store.staging import publish, staging_folder
from fictl.jit.store.stores import Store
from fictl.jit.store.writing import writing
from fictl.trust.keys_file import TrustedKey
from fictl.trust.signature import LARGEST as LARGEST_SIGNATURE
from fictl.trust.verdict import judge, unknown


class NotTrusted(Exception):
    """Nobody whom the user trusts vouches for the build; the text has the key's id."""


def vouched(bucket: Bucket, candidate: Candidate, keys: tuple[TrustedKey, ...]) -> Vouched:
    """Read a document and who vouches for it; raise NotThere, BadAnswer, NotTrusted or Newer."""
    known = [key_id for key_id in candidate.keys if any(key.public.id == key_id for key in keys)]
    own = not known and bucket.is_own(candidate.name)
    if not known and not own:
        raise NotTrusted(_stranger(candidate))
    with ThreadPoolExecutor(1) as pool:  # At once: each is a round trip.
        signatures = [pool.submit(_signature, bucket, candidate, key_id) for key_id in known]
        data = bucket.read(candidate.name, LARGEST)
    if hashlib.sha256(data).hexdigest() != candidate.sha256:
        raise BadAnswer(f"{candidate.name} has other bytes than its name says")
    if own:
        return Vouched(_document(candidate, data))
    refusals = []
    for key_id, answer in zip(known, signatures, strict=True):
        try:
            signature = answer.result()
        except (NotThere, BadAnswer) as error:  # Another key's may be whole.
            refusals.append(f"{error} is missing" if isinstance(error, NotThere) else str(error))
            continue
        verdict = judge(data, signature, keys, [candidate.project], candidate.comment)
        if verdict.is_trusted:
            return Vouched(_document(candidate, data), verdict.name, key_id, signature)
        refusals.append(verdict.text)
    raise NotTrusted(refusals[0])


def fetched(bucket: Bucket, taken: Vouched, store: Store) -> Entry:
    """Stage the files of the build, check every byte, and publish it in the store."""
    document = taken.document
    manifest = document.manifest
    module_dir = store.module_dir(manifest.project, manifest.module)
    with staging_folder(module_dir) as staging, writing(module_dir):
        files = {
            name: _file(bucket, document.blobs[name], staging / name, stamp)
            for name, stamp in manifest.files.items()
        }
        origin = {"url": bucket.url, "key": taken.key, "key_id": taken.key_id}
        local = replace(manifest, files=files, created=time.time(), origin=origin)
        (staging / MANIFEST).write_text(local.to_json(), encoding="utf-8")
        final = store.recipe_dir(manifest.project, manifest.module, manifest.recipe)
        return publish(staging, final / manifest.build)


def _document(candidate: Candidate, data: bytes) -> Document:
    """Parse the bytes, now that somebody vouches for them; they must be of this very place."""
    document = read_document(data)
    if document.name != candidate.name:
        raise BadAnswer(f"{candidate.name} is the document of another build: {document.name}")
    if reason := unshared_variant(document.manifest.device, document.manifest.variant):
        raise BadAnswer(f"{candidate.name} should not have been sent: {reason}")
    return document


def _signature(bucket: Bucket, candidate: Candidate, key_id: str) -> str:
    try:
        return bucket.read(candidate.signature(key_id), LARGEST_SIGNATURE).decode()
    except UnicodeDecodeError:
        raise BadAnswer(f"{candidate.signature(key_id)} is not text") from None


def _file(bucket: Bucket, blob: str, target: Path, stamp: FileStamp) -> FileStamp:
    digest = bucket.fetch(blob, target, stamp.size)
    if digest != stamp.sha256:
        raise BadAnswer(f"{blob} has other bytes than its name says: their SHA-256 is {digest}")
    return FileStamp(stamp.size, target.stat().st_mtime_ns, digest)


def _stranger(candidate: Candidate) -> str:
    if not candidate.keys:
        return "it is not signed"
    return f"{unknown(' '.join(candidate.keys)).text} (fictl trust add NAME KEY trusts one)"
