"""Public keys as minisign writes them: one line of base64, with an 8-byte id."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from pathlib import Path

from fictl.errors import InvalidValue, UsageError, shown, unreadable
from fictl.trust import ed25519
from fictl.user_file import read_text

ALGORITHM = b"Ed"
ID_BYTES = 8
LARGEST = 1 << 14  # No file of minisign is longer.
_LONGEST_PUBLIC = 60
_COMMENT = "untrusted comment: "


@dataclass(frozen=True)
class PublicKey:
    """A public key; `id` is spelled as minisign prints it, in 16 hexadecimal digits."""

    id: str
    raw: bytes

    @classmethod
    def parse(cls, text: str) -> PublicKey:
        """Parse the line of base64, alone or in minisign's file of two lines."""
        data = decoded(last_line(text), "a public key", "RW", 2 + ID_BYTES + ed25519.PUBLIC_BYTES)
        if data[:2] != ALGORITHM:
            raise InvalidValue(f"{shown(text.strip())} is not an Ed25519 key of minisign")
        return cls(spelled_id(data[2:10]), data[10:])

    @property
    def line(self) -> str:
        return base64.b64encode(ALGORITHM + id_bytes(self.id) + self.raw).decode()

    def text(self) -> str:
        """Return the content of minisign's file."""
        return f"{_COMMENT}minisign public key {self.id}\n{self.line}\n"


def spelled_id(data: bytes) -> str:
    return f"{int.from_bytes(data, 'little'):016X}"


def id_bytes(spelled: str) -> bytes:
    return int(spelled, 16).to_bytes(ID_BYTES, "little")


def last_line(text: str) -> str:
    """Return the line of base64 of a key's file: the one after the comment."""
    lines = [line.strip() for line in text.strip().splitlines()]
    return next((line for line in lines if line and not line.startswith(_COMMENT.strip())), "")


def decoded(line: str, what: str, begins: str, size: int) -> bytes:
    """Decode base64 of exactly `size` bytes; `what` and `begins` are for the error."""
    try:
        data = base64.b64decode(line, validate=True)
    except (binascii.Error, ValueError):
        data = b""
    # Why to encode again: base64 has several spellings of the same bytes.
    if len(data) != size or base64.b64encode(data).decode() != line:
        # Why not a long one: it may be a secret key.
        text = (
            repr(shown(line))
            if len(line) <= _LONGEST_PUBLIC
            else f"a text of {len(line)} characters"
        )
        raise InvalidValue(f"{text} is not {what}", f"minisign's begin with {begins} in base64")
    return data


def read_public(path: Path) -> PublicKey:
    """Read a public key's file that the user named."""
    try:
        return PublicKey.parse(read_text(path, largest=LARGEST))
    except OSError as error:
        raise unreadable(path, error, "name the file that ends with .pub") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not a public key: it is not text") from None
