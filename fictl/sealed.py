"""Records with their own hash, so that changes by a disk error or by hand are detected."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_SEAL = "sha256"


class BrokenSeal(ValueError):
    """A record differs from what was written."""


def seal(data: Mapping[str, Any], indent: int | None = None) -> str:
    """Encode as JSON with a hash of the whole record."""
    plain = json.loads(json.dumps(data, default=str))
    return json.dumps({**plain, _SEAL: _digest(plain)}, indent=indent)


def unseal(text: str | bytes, required: bool = True) -> dict[str, Any]:
    """Decode a sealed record; unless `required`, accept older records without a seal."""
    data = json.loads(text)
    if not isinstance(data, dict):
        raise BrokenSeal("it is not a record")
    seal_text = data.pop(_SEAL, None)
    if (seal_text is not None or required) and seal_text != _digest(data):
        raise BrokenSeal("it has other content than was written" if seal_text else "it has no hash")
    return data


def _digest(data: Mapping[str, Any]) -> str:
    import hashlib

    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
