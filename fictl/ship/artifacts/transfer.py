"""Transfers of blobs: many at once, from the first repository that has the right bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

from fictl import settings
from fictl.errors import FictlError
from fictl.jit.remote.bucket import BadAnswer, Bucket, NotThere, RemoteFailed
from fictl.jit.remote.document import blob_name
from fictl.jit.remote.url import open_bucket
from fictl.redact import hide_secrets

T = TypeVar("T")
R = TypeVar("R")

# Failures in a row after which a repository is not asked any more.
_MOST_FAILURES = 3
_NOTHING = "has nothing of that name"


class TransferObserver(Protocol):
    """The one that is told how a transfer goes; threads may tell it at once."""

    def planned(self, doing: str, files: int, size: int) -> None: ...
    def moved(self, size: int) -> None: ...
    def note(self, text: str) -> None: ...


class NowhereError(FictlError):
    """No repository gave the right bytes; `reasons` has a pair of URL and reason for each."""

    def __init__(self, name: str, reasons: Sequence[tuple[str, str]]) -> None:
        listed = "; ".join(f"{url}: {reason}" for url, reason in reasons) or "none was asked"
        super().__init__(f"{name} is in no repository ({listed})")
        self.reasons = tuple(reasons)


@dataclass
class Repositories:
    """Buckets in the order in which they are asked; `closed` are those that could not be opened."""

    buckets: tuple[Bucket, ...]
    closed: tuple[tuple[str, str], ...] = ()
    _failures: dict[str, int] = field(default_factory=dict)

    @classmethod
    def open(cls, urls: Iterable[str]) -> Repositories:
        """Open each URL; makes no request."""
        buckets, closed = [], []
        for url in dict.fromkeys(urls):
            try:
                buckets.append(open_bucket(url))
            except RemoteFailed as error:
                closed.append((hide_secrets(url), error.reason))
        return cls(tuple(buckets), tuple(closed))

    def first(self, name: str, ask: Callable[[Bucket], T]) -> T:
        """Return the first good answer; raise NowhereError with the reason of every other one."""
        reasons = [*self.closed]
        for bucket in self.buckets:
            if self._failures.get(bucket.url, 0) >= _MOST_FAILURES:
                reasons.append((bucket.url, "it failed before and is not asked again"))
                continue
            try:
                answer = ask(bucket)
            except (NotThere, BadAnswer, RemoteFailed) as error:
                self._count(bucket, error)
                reasons.append((bucket.url, spell(error)))
            else:
                self._failures[bucket.url] = 0
                return answer
        raise NowhereError(name, reasons)

    def fetch(self, sha256: str, size: int, target: Path) -> None:
        """Write a blob to a new file, with the bytes that its hash stands for."""
        self.first(f"blob {sha256}", lambda bucket: fetch(bucket, sha256, size, target))

    def _count(self, bucket: Bucket, error: Exception) -> None:
        failed = isinstance(error, RemoteFailed)
        self._failures[bucket.url] = self._failures.get(bucket.url, 0) + 1 if failed else 0


def fetch(bucket: Bucket, sha256: str, size: int, target: Path) -> None:
    """Write a blob of one bucket to a new file; nothing is left of one with other bytes."""
    name, got = blob_name(sha256), ""
    try:
        got = bucket.fetch(name, target, size)
    finally:
        if got != sha256:
            with suppress(OSError):
                target.unlink()
    if got != sha256:
        raise BadAnswer(f"{name} has other bytes, of SHA-256 {got}")


def spell(error: Exception) -> str:
    """Say in a few words why a bucket did not give what it was asked for."""
    if isinstance(error, RemoteFailed):
        return error.reason
    return _NOTHING if isinstance(error, NotThere) else str(error)


def each_of(items: Sequence[T], action: Callable[[T], R]) -> Iterator[R]:
    """Run an action for all items, several at once; yield the results in order."""
    with ThreadPoolExecutor(settings.ARTIFACTS_DOWNLOAD_THREADS.get()) as pool:
        try:
            yield from pool.map(action, items)
        except BaseException:
            # What runs cleans up after itself; what waits is not begun.
            pool.shutdown(wait=True, cancel_futures=True)
            raise
