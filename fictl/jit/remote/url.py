"""Buckets by URL: s3, gs, az, https and memory by obstore, which only this file imports; file without.

Credentials come from the environment as obstore reads them, and are in no message of ours.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from fictl import settings
from fictl.errors import InvalidValue, NotInstalled, UsageError
from fictl.jit.remote.bucket import (
    BadAnswer,
    Bucket,
    Listed,
    NotThere,
    RemoteFailed,
    checked,
    is_name,
)
from fictl.jit.remote.folder import FolderBucket
from fictl.paths import real
from fictl.redact import hide_secrets
from fictl.setting_values import REMOTE_SCHEMES

# A remote that is not there costs its first process a second, the work around the connection included.
_CONNECT = "900ms"
_RETRIES = 2  # Of transfers: a lookup that fails is a miss.
_SLOWEST = 64 << 10  # Bytes a second below which a transfer is given up.
# Each part is looked at as it comes: a server that trickles must not fill a buffer unseen.
_SMALLEST_PART = 1
_MOST_LISTED = 100_000

_owner: dict[str, int] = {}  # The process that has begun to use the client.
_memory: dict[str, Any] = {}
_memory_lock = threading.Lock()


def open_bucket(url: str) -> Bucket:
    """Open the bucket at a URL; makes no request. FICTL_NO_DOWNLOAD refuses all but folders."""
    parts = urlsplit(url)
    if parts.scheme not in REMOTE_SCHEMES or parts.query or parts.fragment:
        known = " ".join(f"{scheme}://" for scheme in REMOTE_SCHEMES)
        raise InvalidValue(
            f"{hide_secrets(url)} is not a URL of a remote", f"it begins with {known}"
        )
    if parts.scheme == "file":
        return _folder(url)
    if settings.NO_DOWNLOAD.get() and parts.scheme != "memory":
        raise RemoteFailed(
            hide_secrets(url),
            f"{settings.NO_DOWNLOAD.name} forbids every request",
            f"unset {settings.NO_DOWNLOAD.name}, or ask on a machine with a network",
        )
    return _client_of(url.rstrip("/"), settings.of_other_programs())


@lru_cache(maxsize=64)
def _client_of(url: str, environment: int) -> ObjectBucket:
    """Return one client for a URL and the credentials in force: it keeps connections, and making
    one reads the certificates of the machine.
    """
    return ObjectBucket(url)


def _folder(url: str) -> FolderBucket:
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost"):
        raise UsageError(
            f"{hide_secrets(url)} names a machine, and a folder is one of this machine",
            "write it with three slashes: file:///folder",
        )
    return FolderBucket(url.rstrip("/"), real(Path(unquote(parts.path))))


@dataclass(frozen=True)
class ObjectBucket:
    """Object storage or a web server, over obstore."""

    address: str = field(repr=False)

    @property
    def url(self) -> str:
        return hide_secrets(self.address)

    @property
    def lists(self) -> bool:
        return not self._is_http

    @property
    def writable(self) -> bool:
        return not self._is_http

    def listed(self, prefix: str) -> Iterator[Listed]:
        count, ends = 0, time.monotonic() + 10 * settings.REMOTE_TIMEOUT.get()
        with self._telling():
            for chunk in self._lookups.list(checked(prefix) if prefix else None):
                for entry in chunk:
                    count += 1
                    if count > _MOST_LISTED or time.monotonic() > ends:
                        raise RemoteFailed(
                            self.url, f"it lists more than {count - 1} names, or for ever"
                        )
                    if is_name(entry["path"]):
                        yield Listed(
                            entry["path"], entry["size"], entry["last_modified"].timestamp()
                        )

    def read(self, name: str, largest: int) -> bytes:
        parts, count = [], 0
        for chunk in self._chunks(self._lookups, name, largest):
            parts.append(chunk)
            count += len(chunk)
        return b"".join(parts)

    def fetch(self, name: str, target: Path, size: int) -> str:
        digest, count = hashlib.sha256(), 0
        with target.open("xb") as file:
            for chunk in self._chunks(self._transfers, name, size):
                count += len(chunk)
                digest.update(chunk)
                file.write(chunk)
        if count != size:
            raise BadAnswer(f"{name} has {count} bytes, not {size}")
        return digest.hexdigest()

    def size(self, name: str) -> int | None:
        with self._telling():
            try:
                size: int = _obstore().head(self._lookups, checked(name))["size"]
            except FileNotFoundError:
                return None
            return size

    def write(self, name: str, data: bytes) -> None:
        with self._telling():
            _obstore().put(self._transfers, checked(name), data)

    def send(self, name: str, source: Path) -> None:
        with self._telling():
            _obstore().put(self._transfers, checked(name), source)

    def delete(self, name: str) -> None:
        with self._telling():
            try:
                _obstore().delete(self._lookups, checked(name))
            except FileNotFoundError:
                return

    def is_own(self, name: str = "") -> bool:
        return False

    @property
    def _is_http(self) -> bool:
        return self.address.startswith(("https:", "http:"))

    def _chunks(self, store: Any, name: str, largest: int) -> Iterator[bytes]:
        """Yield at most `largest` bytes, in a time that grows with them alone."""
        count, ends = 0, time.monotonic() + 10 * settings.REMOTE_TIMEOUT.get() + largest / _SLOWEST
        with self._telling():
            try:
                answer = _obstore().get(store, checked(name))
            except FileNotFoundError:
                raise NotThere(name) from None
            for chunk in answer.stream(_SMALLEST_PART):
                count += len(chunk)
                if count > largest:
                    raise BadAnswer(f"{name} has more than {largest} bytes")
                if time.monotonic() > ends:
                    raise RemoteFailed(self.url, f"{name} comes too slowly: {count} bytes so far")
                yield bytes(chunk)

    @cached_property
    def _lookups(self) -> Any:
        """Return the client of short questions: one time limit for all of a request, no retry."""
        return self._opened({"timeout": f"{settings.REMOTE_TIMEOUT.get()}s"}, retries=0)

    @cached_property
    def _transfers(self) -> Any:
        """Return the client of blobs: the limit is for each part that arrives."""
        seconds = f"{settings.REMOTE_TIMEOUT.get()}s"
        return self._opened({"read_timeout": seconds, "timeout": "1h"}, retries=_RETRIES)

    def _opened(self, limits: dict[str, str], retries: int) -> Any:
        if self.address.startswith("memory:"):
            return self._in_memory()
        # Why allow_http: the endpoint of a local server is http, and options hide the environment's.
        client: Any = {"connect_timeout": _CONNECT, "allow_http": True, **limits}
        with self._telling():
            _obstore()
            from obstore.store import from_url

            return from_url(
                self.address, client_options=client, retry_config={"max_retries": retries}
            )

    def _in_memory(self) -> Any:
        _obstore()
        from obstore.store import MemoryStore

        with _memory_lock:
            return _memory.setdefault(self.address, MemoryStore())

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Turn an error of obstore into one in words, without the server's own text."""
        _require_own_client(self.url)
        try:
            yield
        except (NotThere, BadAnswer, RemoteFailed, NotInstalled, OSError):
            raise
        except Exception as error:
            if not type(error).__module__.startswith("obstore") and not isinstance(
                error, ValueError
            ):
                raise
            reason, hint, denied = explained(str(error))
            raise RemoteFailed(self.url, reason, hint, denied) from None


_NO_CREDENTIALS = "no credentials for it are set on this machine"
_CREDENTIALS = "are this machine's credentials for it set, and may they do this?"
# The first that matches the text of an error, in lower case.
_REASONS = (
    (
        r"must be specified|missing\w*(account|credential)",
        _NO_CREDENTIALS,
        _CREDENTIALS,
    ),
    (
        r"nosuchbucket|bucket does not exist|containernotfound",
        "there is no such bucket",
        "make it first",
    ),
    (
        r"\b(403|401)\b|forbidden|unauthenticated|permissiondenied",
        "it refuses these credentials",
        _CREDENTIALS,
    ),
    (r"timedout|timed out|timeout", "it does not answer in time", ""),
    (
        r"dns error|failed to lookup|name or service",
        "its name cannot be resolved",
        "is there a network here?",
    ),
    (
        r"certificate|tls|ssl",
        "its certificate is not valid here",
        "is a proxy in between, or the clock wrong?",
    ),
    (r"connection refused|connectionrefused", "nothing listens there", ""),
    (r"unreachable", "there is no way to it", "is there a network here?"),
    (r"builder error|invalid|parse|unable to recogni", "its URL or its answer cannot be read", ""),
)


def explained(text: str) -> tuple[str, str, bool]:
    """Return the reason in words, a hint, and if access was denied."""
    low = text.lower()
    status = re.search(r"status code: (\d{3})", low)
    if re.search(r"169\.254\.169\.254|metadata\.google", low):
        return _NO_CREDENTIALS, _CREDENTIALS, True
    # Why not the rest: names in a URL, and the client's own settings, hold any of these words.
    low = re.sub(r"\S+://\S+", "", low[low.rfind("inner:") + 1 :])
    for pattern, reason, hint in _REASONS:
        if re.search(pattern, low):
            return reason, hint, hint == _CREDENTIALS
    if status:
        return f"it answers with status {status[1]}", "", False
    return "the connection broke", "", False


def _require_own_client(url: str) -> None:
    """Refuse the client in a fork of the process that began to use it: its threads are not there,
    and a request would wait for them for ever.
    """
    owner = _owner.setdefault("pid", os.getpid())
    if owner != os.getpid():
        raise RemoteFailed(
            url,
            f"this process was forked from {owner}, which has used remotes",
            "start such processes by spawn, as in multiprocessing.set_start_method",
            here_only=True,
        )


def _obstore() -> Any:
    try:
        import obstore
    except ImportError as error:
        raise NotInstalled(
            f"remotes need the package obstore, which cannot be imported: {error}",
            "pip install 'fictl[remote]'",
        ) from error
    return obstore
