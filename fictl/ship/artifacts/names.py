"""Names, hashes, times and paths of snapshots, as they are written everywhere."""

from __future__ import annotations

import re
from datetime import datetime, timezone

from fictl.errors import UsageError, shown
from fictl.jit.remote.document import is_sha256

FOLDER = "snapshots"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,99}")
_HASH = re.compile(r"[0-9a-f]{64}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_PATH = re.compile(rf"{FOLDER}/({_NAME.pattern})-({_HASH.pattern})\.json")


def is_snapshot_name(text: object) -> bool:
    return isinstance(text, str) and _NAME.fullmatch(text) is not None and ".." not in text


def is_time(text: object) -> bool:
    return isinstance(text, str) and _TIME.fullmatch(text) is not None


def spelled_time(seconds: float) -> str:
    """Spell a time so that the order of texts is the order of times."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def path_of(name: str, sha256: str) -> str:
    """Return where the document of a snapshot lies; the hash is that of the document itself."""
    return f"{FOLDER}/{name}-{sha256}.json"


def parsed(path: str) -> tuple[str, str] | None:
    """Return the name and the hash of a snapshot's path; None for any other path."""
    match = _PATH.fullmatch(path)
    return (match[1], match[2]) if match and is_snapshot_name(match[1]) else None


def checked_name(text: str) -> str:
    """Return the name that a user gave; refuse one that cannot name a snapshot."""
    if not is_snapshot_name(text):
        raise UsageError(
            f"{shown(text)!r} cannot name a snapshot",
            "use letters, digits and . _ + -, as in 2026.11.22",
        )
    return text


def split(text: str) -> tuple[str, str]:
    """Split NAME or NAME@SHA256, as a user writes it; the hash is '' if it is left out."""
    name, at, sha256 = text.partition("@")
    if at and not is_sha256(sha256):
        raise UsageError(
            f"{shown(sha256)!r} is not the hash of a snapshot",
            "fictl artifacts list shows it, in 64 digits",
        )
    return checked_name(name), sha256
