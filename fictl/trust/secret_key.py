"""Secret keys as minisign writes them, with a password or without."""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path

from fictl import settings
from fictl.errors import InvalidValue, SetupError, UsageError, unreadable
from fictl.trust import ed25519
from fictl.trust.key import ALGORITHM, LARGEST, PublicKey, decoded, last_line, spelled_id
from fictl.user_file import read_text

_NO_PASSWORD, _SCRYPT, _CHECKSUM = b"\0\0", b"Sc", b"B2"
_SALT, _LIMITS = 32, 16
_HEAD = 6 + _SALT + _LIMITS
_BODY = 8 + 64 + 32
_MOST_MEMORY = 1 << 30  # What minisign itself asks for.


@dataclass(frozen=True)
class SecretKey:
    """A secret key: its id, and the seed, which no message and no repr shows."""

    id: str
    seed: bytes = field(repr=False)

    @classmethod
    def generate(cls) -> SecretKey:
        return cls(spelled_id(secrets.token_bytes(8)), secrets.token_bytes(ed25519.SEED_BYTES))

    @classmethod
    def parse(cls, text: str, password: str = "") -> SecretKey:
        data = decoded(last_line(text), "a secret key", "RW", _HEAD + _BODY)
        kdf, body = data[2:4], data[_HEAD:]
        if data[:2] != ALGORITHM or data[4:6] != _CHECKSUM or kdf not in (_NO_PASSWORD, _SCRYPT):
            raise InvalidValue("it is not an Ed25519 key of minisign")
        if kdf == _SCRYPT:
            body = _decrypted(body, data[6:_HEAD], password)
        number, secret, checksum = body[:8], body[8:72], body[72:]
        # Why zeros: minisign writes them in a key without a password.
        if checksum != _checksum(number + secret) and (kdf == _SCRYPT or any(checksum)):
            raise InvalidValue("wrong password" if kdf == _SCRYPT else "it is damaged")
        return cls(spelled_id(number), secret[: ed25519.SEED_BYTES])

    @property
    def public(self) -> PublicKey:
        return PublicKey(self.id, ed25519.public_of(self.seed))

    def text(self) -> str:
        """Return the content of minisign's file of a key without a password."""
        number = int(self.id, 16).to_bytes(8, "little")
        body = number + self.seed + self.public.raw
        head = ALGORITHM + _NO_PASSWORD + _CHECKSUM + bytes(_SALT + _LIMITS)
        line = base64.b64encode(head + body + _checksum(body)).decode()
        return f"untrusted comment: minisign encrypted secret key\n{line}\n"


def signing_key() -> SecretKey | None:
    """Read the key of FICTL_SIGNING_KEY; None if that is unset."""
    path = settings.SIGNING_KEY.get()
    return read_secret(path) if path else None


def read_secret(path: Path) -> SecretKey:
    """Read a secret key's file; one that others can read is refused, as ssh does."""
    try:
        mode = os.stat(path).st_mode
        text = read_text(path, largest=LARGEST)
    except OSError as error:
        hint = "fictl trust new-key makes one"
        raise unreadable(f"the signing key {path}", error, hint) from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not a signing key: it is not text") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise SetupError(
            f"the signing key {path} is open to others (mode {mode & 0o777:o})",
            f"chmod 600 '{path}'",
        )
    try:
        return SecretKey.parse(text, settings.SIGNING_PASSWORD.get())
    except InvalidValue as error:
        # Why without the text: a damaged key still is a secret.
        why = error.message if "'" not in error.message else "it is not a key of minisign"
        hint = f"{settings.SIGNING_PASSWORD.name} holds its password" if "password" in why else ""
        raise UsageError(f"the signing key {path} cannot be used: {why}", hint) from None


def _checksum(body: bytes) -> bytes:
    return hashlib.blake2b(ALGORITHM + body, digest_size=32).digest()


def _decrypted(body: bytes, parameters: bytes, password: str) -> bytes:
    if not password:
        raise InvalidValue("it has a password")
    work, memory = (int.from_bytes(parameters[at : at + 8], "little") for at in (_SALT, _SALT + 8))
    cost, parallel = _scrypt_cost(max(work, 32768), memory)
    stream = hashlib.scrypt(
        password.encode(),
        salt=parameters[:_SALT],
        n=cost,
        r=8,
        p=parallel,
        maxmem=2 * _MOST_MEMORY - 1,
        dklen=_BODY,
    )
    return bytes(one ^ other for one, other in zip(body, stream, strict=True))


def _scrypt_cost(work: int, memory: int) -> tuple[int, int]:
    """Compute scrypt's N and p from the two limits in the file, as libsodium does."""
    if memory > _MOST_MEMORY or work > _MOST_MEMORY:
        raise InvalidValue("it asks for more memory than minisign does")
    bounded_by_work = work < memory // 32
    most = work // 32 if bounded_by_work else memory // 1024
    cost = 2
    while cost <= most // 2:
        cost *= 2
    return cost, 1 if bounded_by_work else max(1, work // 4 // cost // 8)
