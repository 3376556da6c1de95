"""What the process of an op tells the one that started it: JSON, a line each, among other output."""

from __future__ import annotations

import json
import os
from typing import Any

# As in RFC 7464: it begins a JSON text, and nothing that a compiler prints.
_MARK = "\x1e"


def send(kind: str, **data: Any) -> None:
    """On stdout, in one write; whatever half a line stands there is ended."""
    text = json.dumps({"kind": kind, **data})
    os.write(1, f"\n{_MARK}{text}\n".encode())


def received(line: str) -> dict[str, Any] | None:
    """A message, or None for other output."""
    if not line.startswith(_MARK):
        return None
    try:
        message = json.loads(line[1:])
    except ValueError:
        return None
    return message if isinstance(message, dict) and "kind" in message else None
