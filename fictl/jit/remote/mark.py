"""The mark of a remote: what has none, and is not empty, is not ours to write to."""

from __future__ import annotations

import json

from fictl.errors import SetupError, UsageError
from fictl.jit.remote.bucket import Bucket, NotThere
from fictl.jit.remote.document import canonical

MARK = "fictl-remote.json"
SCHEMA = "fictl.remote/1"
_LARGEST = 1 << 16


def require_ours(bucket: Bucket, make: bool = True) -> None:
    """Refuse a bucket that something else uses; mark an empty one, if `make`."""
    if not bucket.writable:
        raise UsageError(
            f"nothing can be sent to {bucket.url}: a web server is read only",
            "name the bucket behind it, as in s3://bucket/prefix",
        )
    try:
        schema = json.loads(bucket.read(MARK, _LARGEST))["schema"]
    except NotThere:
        _claim(bucket, make)
        return
    except (ValueError, KeyError, TypeError, RecursionError):
        schema = "unreadable"
    if schema != SCHEMA:
        raise SetupError(
            f"{bucket.url}/{MARK} is {schema!r}, and this fictl knows {SCHEMA!r}",
            "update fictl, or name another prefix",
        )


def _claim(bucket: Bucket, make: bool) -> None:
    if next(iter(bucket.listed("")), None) is not None:
        raise UsageError(
            f"{bucket.url} holds something that fictl did not put there",
            "name a prefix that is empty",
        )
    if make:
        bucket.write(MARK, canonical({"schema": SCHEMA}))
