"""Compiled templates, kept with their hash: they are code, and loading a damaged one runs it."""

from __future__ import annotations

import hashlib
import io
from contextlib import suppress
from pathlib import Path

from jinja2 import FileSystemBytecodeCache
from jinja2.bccache import Bucket

_HASH_BYTES = hashlib.sha256().digest_size


class CheckedBytecode(FileSystemBytecodeCache):
    """Compiled templates on disk; a file that was changed since it was written is ignored."""

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            data = Path(self._get_cache_filename(bucket)).read_bytes()
            told, code = data[:_HASH_BYTES], data[_HASH_BYTES:]
            if hashlib.sha256(code).digest() == told:
                bucket.load_bytecode(io.BytesIO(code))

    def dump_bytecode(self, bucket: Bucket) -> None:
        plain, place = io.BytesIO(), Path(self._get_cache_filename(bucket))
        bucket.write_bytecode(plain)
        with suppress(OSError):
            fresh = place.with_name(f".{place.name}.{id(bucket):x}")
            fresh.write_bytes(hashlib.sha256(plain.getvalue()).digest() + plain.getvalue())
            fresh.replace(place)
