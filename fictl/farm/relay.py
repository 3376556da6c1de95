"""The remote cache as the way of large files between machines, where both may use it.

Each end has its own settings and credentials: they tell each other hashes of URLs without secrets.
Whatever fails, the file goes over the pipe. Bytes count only if they have the hash that was named
over the pipe, so that a hostile remote can give nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from fictl.errors import FictlError, SetupError
from fictl.farm.blobs import BlobStore, WrongBlob
from fictl.farm.line import Blob
from fictl.jit.remote import remotes
from fictl.jit.remote.bucket import BadAnswer, NotThere, RemoteFailed
from fictl.jit.remote.document import blob_name
from fictl.jit.remote.mark import require_ours
from fictl.jit.remote.remote import Remote

# Below it, a look-up takes longer than the pipe.
SMALLEST = 256 << 10


class Relay:
    """One remote that both ends know. `sends`: this end may write there."""

    def __init__(self, remote: Remote, sends: bool) -> None:
        self._remote, self.sends = remote, sends and remote.bucket.writable
        self._is_ours = False
        self._sent: set[str] = set()

    def is_for(self, blob: Blob) -> bool:
        return blob.size >= SMALLEST and not self._remote.breaker.reason()

    def put(self, blob: Blob, path: Path) -> bool:
        """Have the file in the remote; False if it must go another way."""
        if not (self.sends and self.is_for(blob)):
            return False
        try:
            self._put(blob, path)
        except RemoteFailed as error:
            self._remote.breaker.trip(error)
            return False
        except (FictlError, BadAnswer, OSError):
            self.sends = False  # As in a bucket of somebody else's.
            return False
        return True

    def take(self, blob: Blob, store: BlobStore) -> bool:
        """Receive the file from the remote; False if it does not have exactly these bytes."""
        if not self.is_for(blob):
            return False
        try:
            bucket, name = self._remote.bucket, blob_name(blob.sha256)
            store.take(blob, lambda target: bucket.fetch(name, target, blob.size))
        except RemoteFailed as error:
            self._remote.breaker.trip(error)
            return False
        except (NotThere, BadAnswer, WrongBlob):
            return False
        return True

    def _put(self, blob: Blob, path: Path) -> None:
        if blob.sha256 in self._sent:
            return
        bucket, name = self._remote.bucket, blob_name(blob.sha256)
        if not self._is_ours:
            require_ours(bucket)
            self._is_ours = True
        if bucket.size(name) != blob.size:
            bucket.send(name, path)
        self._sent.add(blob.sha256)


def known_remotes() -> tuple[str, ...]:
    """Return the hashes of the URLs that this machine may ask, nearest first."""
    return tuple(_digest(remote) for remote in _remotes())


def relay_to(theirs: Sequence[str]) -> tuple[str, Relay | None]:
    """Return the hash and the nearest remote of this machine that the other end knows, too."""
    for remote in _remotes():
        digest = _digest(remote)
        if digest in theirs:
            return digest, Relay(remote, remotes.is_written())
    return "", None


def _remotes() -> Iterator[Remote]:
    for url in remotes.urls():
        with suppress(SetupError):  # As where every request is forbidden.
            yield Remote.at(url)


def _digest(remote: Remote) -> str:
    return hashlib.sha256(remote.url.encode()).hexdigest()
