"""The mark of a remote: what has none, and is not empty, is not ours to write to."""

from __future__ import annotations

import json

from fictl.errors import SetupError, UsageError
from fictl.jit.remote.bucket import BadAnswer, Bucket, NotThere
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
    schema = _schema(bucket)
    if not schema and next(iter(bucket.listed("")), None) is not None:
        schema = _schema(bucket)  # Another writer may have marked it meanwhile, before all else.
        if not schema:
            raise UsageError(
                f"{bucket.url} holds something that fictl did not put there",
                "name a prefix that is empty",
            )
    if schema not in ("", SCHEMA):
        raise SetupError(
            f"{bucket.url}/{MARK} is {schema!r}, and this fictl knows {SCHEMA!r}",
            "update fictl, or name another prefix",
        )
    if not schema and make:
        bucket.write(MARK, canonical({"schema": SCHEMA}))


def _schema(bucket: Bucket) -> str:
    """Return what the mark says; '' without one."""
    try:
        return str(json.loads(bucket.read(MARK, _LARGEST))["schema"])
    except NotThere:
        return ""
    except (BadAnswer, ValueError, KeyError, TypeError, RecursionError):
        return "unreadable"
