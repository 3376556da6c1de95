"""Ed25519 by the package `cryptography`, which nothing else imports and only a signed thing needs."""

from __future__ import annotations

from typing import Any

from fictl.errors import NotInstalled

SEED_BYTES = PUBLIC_BYTES = 32
SIGNATURE_BYTES = 64


def public_of(seed: bytes) -> bytes:
    """Return the public key of a secret one."""
    private, _, _ = _parts()
    key: bytes = private.from_private_bytes(seed).public_key().public_bytes_raw()
    return key


def sign(seed: bytes, data: bytes) -> bytes:
    private, _, _ = _parts()
    signature: bytes = private.from_private_bytes(seed).sign(data)
    return signature


def is_signed(public: bytes, signature: bytes, data: bytes) -> bool:
    """True if the owner of the public key signed exactly these bytes."""
    _, public_key, invalid = _parts()
    try:
        public_key.from_public_bytes(public).verify(signature, data)
    except (invalid, ValueError):
        return False
    return True


def _parts() -> tuple[Any, Any, type[Exception]]:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import (
            Ed25519PrivateKey,
            Ed25519PublicKey,
        )
    except ImportError as error:
        raise NotInstalled(
            f"signatures need the package cryptography, which cannot be imported: {error}",
            "pip install 'fictl[remote]'",
        ) from error
    return Ed25519PrivateKey, Ed25519PublicKey, InvalidSignature
