"""The mark of a bucket that fictl writes to: without it, nothing is put among somebody's files."""

from __future__ import annotations

import json
from itertools import islice

from fictl.errors import UsageError
from fictl.jit.remote.bucket import BadAnswer, Bucket, NotThere

MARK = "fictl-remote.json"
SCHEMA = "fictl.remote/1"
_LARGEST = 1 << 16


def require_ours(bucket: Bucket) -> None:
    """Mark an empty bucket as ours; refuse one that has other contents, or that cannot be written."""
    if not bucket.writable:
        raise UsageError(
            f"{bucket.url} cannot be written: a web server only serves",
            "push to the bucket or folder behind it: s3:// gs:// az:// file://",
        )
    if _is_marked(bucket):
        return
    try:
        others = [entry.name for entry in islice(bucket.listed(""), 1)]
    except FileNotFoundError:
        others = []
    if others:
        raise UsageError(
            f"{bucket.url} holds something that fictl did not put there: {others[0]}",
            "name a bucket or a folder that is empty, or a prefix in it that is new",
        )
    bucket.write(MARK, (json.dumps({"schema": SCHEMA}) + "\n").encode())


def _is_marked(bucket: Bucket) -> bool:
    try:
        schema = json.loads(bucket.read(MARK, _LARGEST))["schema"]
    except NotThere:
        return False
    except (ValueError, KeyError, TypeError, RecursionError):
        schema = None
    if schema != SCHEMA:
        raise BadAnswer(f"{MARK} is not that of a bucket which this fictl can write")
    return True
