"""A bucket: a place of named bytes, such as object storage; all its names and sizes are hostile."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fictl.errors import SetupError, shown

_PART = r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,199}"
_NAME = re.compile(rf"{_PART}(/{_PART}){{0,15}}")


class NotThere(Exception):
    """The bucket has nothing of that name."""


class BadAnswer(Exception):
    """The bytes are not what they should be: too many, too few or others. The text says which."""


class RemoteFailed(SetupError):
    """The remote cannot be used now; `reason` is for a message that names the URL itself.

    denied: it answered, and refused: asking again would not help.
    here_only: other processes of this machine may well use it.
    """

    code = "remote"

    def __init__(
        self,
        url: str,
        reason: str,
        hint: str = "",
        denied: bool = False,
        here_only: bool = False,
    ) -> None:
        super().__init__(f"the remote {url} cannot be used: {reason}", hint)
        self.reason = reason
        self.denied = denied
        self.here_only = here_only


@dataclass(frozen=True)
class Listed:
    """A name in a bucket, its size in bytes, and the time of its last change."""

    name: str
    size: int
    changed: float


class Bucket(Protocol):
    """Named bytes under one URL. Names are relative to it, and `checked`."""

    @property
    def url(self) -> str:
        """Return the URL without secrets, for messages and records."""

    @property
    def lists(self) -> bool:
        """False for a plain web server, which cannot list its names."""

    @property
    def writable(self) -> bool:
        """False if nothing can be sent there."""

    def listed(self, prefix: str) -> Iterator[Listed]:
        """Yield everything in the folder `prefix`, at any depth; names that are not ours are left out."""

    def read(self, name: str, largest: int) -> bytes:
        """Read a small object; raise NotThere, or BadAnswer if it is larger than `largest`."""

    def fetch(self, name: str, target: Path, size: int) -> str:
        """Write an object of exactly `size` bytes to a new file; return its SHA-256."""

    def size(self, name: str) -> int | None:
        """Return the bytes of an object; None if there is none."""

    def write(self, name: str, data: bytes) -> None:
        """Write a small object."""

    def send(self, name: str, source: Path) -> None:
        """Write a file of any size."""

    def delete(self, name: str) -> None:
        """Remove an object; it may be gone already."""

    def is_own(self, name: str = "") -> bool:
        """True if only this user can have written the object: then it needs no signature.

        Without a name: if that holds for the bucket itself.
        """


def is_name(name: str) -> bool:
    """True for a name as fictl writes them: parts without `..`, hidden files or odd characters."""
    return _NAME.fullmatch(name) is not None and ".." not in name


def checked(name: str) -> str:
    """Return the name; raise BadAnswer for one that could lead out of the bucket."""
    if not is_name(name):
        raise BadAnswer(f"{shown(name)!r} is not a name in a bucket")
    return name
