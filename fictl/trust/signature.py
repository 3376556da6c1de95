"""Signatures as minisign writes them: of the hash of a file, and of a comment beside it."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass

from fictl.errors import InvalidValue, shown
from fictl.trust import ed25519
from fictl.trust.key import ID_BYTES, PublicKey, decoded, id_bytes, spelled_id
from fictl.trust.secret_key import SecretKey

SUFFIX = ".minisig"
LARGEST = 1 << 14
_ALGORITHM, _OLD = b"ED", b"Ed"
_HEAD = 2 + ID_BYTES
_SIZE = _HEAD + ed25519.SIGNATURE_BYTES
_UNTRUSTED, _TRUSTED = "untrusted comment: ", "trusted comment: "


@dataclass(frozen=True)
class Signature:
    """A signature; `comment` is signed as well, so that the signature cannot be moved."""

    key_id: str
    raw: bytes
    comment: str
    comment_signature: bytes

    @classmethod
    def parse(cls, text: str) -> Signature:
        lines = text.split("\n")
        labels = (_UNTRUSTED, "", _TRUSTED, "")
        if len(lines) < 4 or not all(map(str.startswith, lines, labels)):
            raise InvalidValue("it does not have the four lines of minisign")
        data = decoded(lines[1], "a signature", "RU", _SIZE)
        if data[:2] == _OLD:
            raise InvalidValue(
                "it has minisign's old algorithm", "sign with minisign 0.10 or newer"
            )
        if data[:2] != _ALGORITHM:
            raise InvalidValue(f"its algorithm {shown(repr(data[:2]))} is not minisign's")
        over_all = decoded(lines[3], "a signature of a comment", "base64", 64)
        comment = lines[2].removeprefix(_TRUSTED).rstrip("\r")
        return cls(spelled_id(data[2:_HEAD]), data[_HEAD:], comment, over_all)

    def text(self) -> str:
        line = base64.b64encode(_ALGORITHM + id_bytes(self.key_id) + self.raw).decode()
        over_all = base64.b64encode(self.comment_signature).decode()
        first = f"{_UNTRUSTED}signature of key {self.key_id}"
        return f"{first}\n{line}\n{_TRUSTED}{self.comment}\n{over_all}\n"

    def fits(self, key: PublicKey, data: bytes) -> bool:
        """True if the owner of `key` signed these bytes and this comment."""
        return (
            key.id == self.key_id
            and ed25519.is_signed(key.raw, self.raw, _hash(data))
            and ed25519.is_signed(key.raw, self.comment_signature, self._whole())
        )

    def _whole(self) -> bytes:
        return self.raw + self.comment.encode()


def sign(key: SecretKey, data: bytes, comment: str) -> Signature:
    """Sign the data, and the comment, which has to be one line of text."""
    if not comment.isprintable():
        raise InvalidValue(f"the comment {shown(comment)} is not one line of text")
    raw = ed25519.sign(key.seed, _hash(data))
    return Signature(key.id, raw, comment, ed25519.sign(key.seed, raw + comment.encode()))


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data).digest()
