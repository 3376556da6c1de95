"""A remote: a bucket, and what this machine remembers about it."""

from __future__ import annotations

from dataclasses import dataclass

from fictl.jit.remote.breaker import Breaker
from fictl.jit.remote.bucket import Bucket
from fictl.jit.remote.url import open_bucket


@dataclass(frozen=True)
class Remote:
    """A bucket with its breaker."""

    bucket: Bucket
    breaker: Breaker

    @classmethod
    def at(cls, url: str) -> Remote:
        """Open the remote at a URL; makes no request."""
        bucket = open_bucket(url)
        return cls(bucket, Breaker.of(bucket.url))

    @property
    def url(self) -> str:
        return self.bucket.url
