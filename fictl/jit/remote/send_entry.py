"""Send a build of the cache: checked once more, with its origin, signed by the user's key."""

from __future__ import annotations

from pathlib import Path

from fictl.jit.remote.bucket import Bucket
from fictl.jit.remote.document import document_of
from fictl.jit.remote.provenance import source_of
from fictl.jit.remote.push import Sent, own_keys, push
from fictl.jit.remote.vouched import signed
from fictl.jit.store.entry import Entry
from fictl.jit.store.shareable import unshareable
from fictl.jit.store.use import keeping
from fictl.trust.secret_key import SecretKey
from fictl.version import describe


def unsendable(entry: Entry) -> str:
    """Say why a build is not sent; '' if it is."""
    if entry.manifest.origin:
        url = entry.manifest.origin.get("url", "another machine")
        return f"it was fetched from {url}: its own builder vouches for it"
    return unshareable(entry)


def send(bucket: Bucket, entry: Entry, base: Path, key: SecretKey | None) -> Sent:
    """Send one build, whose sources are below `base`; raise Unusable if it is damaged."""
    with keeping(entry.path):
        entry.verify(everything=True)
        document = document_of(entry.manifest, source_of(base), describe())
        return push(bucket, signed(document, key), entry.path, own_keys(key))
