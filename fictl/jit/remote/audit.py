"""Audit of a remote: every document, signature and byte; and builds of one key that differ."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fictl.jit.remote.bucket import BadAnswer, Bucket, NotThere
from fictl.jit.remote.catalog import Candidate
from fictl.jit.remote.contents import contents_of
from fictl.jit.remote.document import LARGEST, Document, blob_name, read_document
from fictl.jit.store.entry import Newer
from fictl.trust.keys_file import TrustedKey
from fictl.trust.signature import LARGEST as LARGEST_SIGNATURE
from fictl.trust.verdict import Verdict, judge

_AT_ONCE = 8  # Whole blobs at a time.


@dataclass(frozen=True)
class Audited:
    """One document: `problem` if it is damaged, the verdict on each of its signatures."""

    candidate: Candidate
    problem: str = ""
    verdicts: tuple[Verdict, ...] = ()
    document: Document | None = None

    @property
    def trusted_by(self) -> tuple[str, ...]:
        return tuple(verdict.name for verdict in self.verdicts if verdict.is_trusted)


@dataclass(frozen=True)
class Audit:
    """All documents, the number of blobs read, and groups of one build with different bytes."""

    url: str
    documents: tuple[Audited, ...]
    blobs: int
    differing: tuple[tuple[Audited, ...], ...]

    @property
    def broken(self) -> tuple[Audited, ...]:
        return tuple(audited for audited in self.documents if audited.problem)


def audit(bucket: Bucket, keys: tuple[TrustedKey, ...]) -> Audit:
    """Read everything; nothing is changed."""
    contents = contents_of(bucket)
    with (
        tempfile.TemporaryDirectory(prefix="fictl-audit-") as folder,
        ThreadPoolExecutor(_AT_ONCE) as pool,
    ):
        first = list(pool.map(lambda it: _audited(bucket, it, keys), contents.documents))
        sizes = {sha256: size for one in first for sha256, size in _blobs(one)}
        problems = dict(
            pool.map(lambda blob: (blob, _problem(bucket, blob, sizes[blob], folder)), sizes)
        )
    documents = tuple(_with_blobs(one, problems) for one in first)
    return Audit(bucket.url, documents, len(sizes), tuple(_differing(documents)))


def _audited(bucket: Bucket, it: Candidate, keys: tuple[TrustedKey, ...]) -> Audited:
    try:
        data = bucket.read(it.name, LARGEST)
        if hashlib.sha256(data).hexdigest() != it.sha256:
            return Audited(it, "it has other bytes than its name says")
        document = read_document(data)
    except Newer:
        return Audited(it)
    except (BadAnswer, NotThere) as error:
        return Audited(it, str(error))
    if document.name != it.name:
        return Audited(it, f"it is the document of another build: {document.name}")
    verdicts = tuple(_verdict(bucket, it, key_id, data, keys) for key_id in it.keys)
    bad = next((one.text for one in verdicts if one.kind in _DAMAGE), "")
    return Audited(it, bad, verdicts, document)


_DAMAGE = ("bad signature", "another document")


def _verdict(
    bucket: Bucket, it: Candidate, key_id: str, data: bytes, keys: tuple[TrustedKey, ...]
) -> Verdict:
    try:
        text = bucket.read(it.signature(key_id), LARGEST_SIGNATURE).decode()
    except (BadAnswer, NotThere, UnicodeDecodeError) as error:
        return Verdict("bad signature", f"the signature of key {key_id} cannot be read: {error}")
    return judge(data, text, keys, [it.project], it.comment)


def _blobs(one: Audited) -> Iterator[tuple[str, int]]:
    if one.document is not None:
        for stamp in one.document.manifest.files.values():
            yield stamp.sha256, stamp.size


def _problem(bucket: Bucket, sha256: str, size: int, folder: str) -> str:
    target = Path(folder, sha256)
    try:
        digest = bucket.fetch(blob_name(sha256), target, size)
    except NotThere:
        return f"its file {blob_name(sha256)} is missing"
    except BadAnswer as error:
        return str(error)
    finally:
        target.unlink(missing_ok=True)
    text = f"its file {blob_name(sha256)} has other bytes than its name says"
    return "" if digest == sha256 else text


def _with_blobs(one: Audited, problems: dict[str, str]) -> Audited:
    worst = one.problem or next((problems[it] for it, _ in _blobs(one) if problems[it]), "")
    return Audited(one.candidate, worst, one.verdicts, one.document)


def _differing(documents: tuple[Audited, ...]) -> Iterator[tuple[Audited, ...]]:
    """Yield the documents of each build that was made with different bytes."""
    of_build: dict[str, list[Audited]] = {}
    for one in documents:
        if one.document is not None:
            of_build.setdefault(one.candidate.comment, []).append(one)
    for group in of_build.values():
        if len({tuple(sorted(_blobs(one))) for one in group}) > 1:
            yield tuple(group)
