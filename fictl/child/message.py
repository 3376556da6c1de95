"""Messages of a child: dataclasses, one line of JSON each, among its other output."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from fictl.child.codec import Malformed, from_json, to_json
from fictl.errors import FictlError, from_exit_code

# Begins a JSON text, as in RFC 7464; no compiler prints it.
_MARK = "\x1e"


F = TypeVar("F", bound="Failed")


@dataclass(frozen=True)
class Failed:
    """An error that the child reports instead of a result; `code` is its exit code, `name` its code."""

    message: str
    hint: str
    code: int
    name: str = ""

    @classmethod
    def of(cls: type[F], error: FictlError) -> F:
        return cls(error.message, error.hint, error.exit_code, error.code)

    @property
    def error(self) -> FictlError:
        """Return the error to raise in this process."""
        return from_exit_code(self.code, self.message, self.hint, self.name)


@dataclass(frozen=True)
class Done:
    """The child has finished its request."""


def to_line(message: object) -> str:
    """Encode a message with its kind, the name of its class."""
    return json.dumps({"kind": type(message).__name__, **to_json(message)})


def of_kind(kinds: Mapping[str, type[Any]], document: Any) -> Any:
    """Decode a document as the message class, among `kinds`, that it names."""
    fields = dict(document) if isinstance(document, dict) else {}
    name = fields.pop("kind", None)
    if not isinstance(name, str) or name not in kinds:
        raise Malformed(f"kind: a message {name!r:.80} is not known here, {', '.join(kinds)} are")
    return from_json(kinds[name], fields)


def send(message: object) -> None:
    """Write a message to stdout in one write; it first ends an incomplete line."""
    os.write(1, f"\n{_MARK}{to_line(message)}\n".encode())


def document_in(line: str) -> dict[str, Any] | None:
    """Return the JSON of a message, or None for other output and for incomplete lines."""
    if not line.startswith(_MARK):
        return None
    try:
        document = json.loads(line[1:])
    except ValueError:
        return None
    return document if isinstance(document, dict) and "kind" in document else None
