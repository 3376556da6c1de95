"""Messages that a child sends: dataclasses, a line of JSON each, among whatever else it prints."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fictl.child.codec import Malformed, from_json, to_json
from fictl.errors import FictlError, from_exit_code

# As in RFC 7464: it begins a JSON text, and nothing that a compiler prints.
_MARK = "\x1e"


@dataclass(frozen=True)
class Failed:
    """An error that the child reports instead of a result; `code` is its exit code."""

    message: str
    hint: str
    code: int

    @classmethod
    def of(cls, error: FictlError) -> Failed:
        return cls(error.message, error.hint, error.exit_code)

    @property
    def error(self) -> FictlError:
        """The error as this process raises it."""
        return from_exit_code(self.code)(self.message, self.hint)


@dataclass(frozen=True)
class Done:
    """The child has done all that it was asked for."""


def to_line(message: object) -> str:
    """A message with its kind, which is the name of its class."""
    return json.dumps({"kind": type(message).__name__, **to_json(message)})


def of_kind(kinds: Mapping[str, type[Any]], document: Any) -> Any:
    """The message of a document that names one of these kinds."""
    fields = dict(document) if isinstance(document, dict) else {}
    name = fields.pop("kind", None)
    if not isinstance(name, str) or name not in kinds:
        raise Malformed(f"kind: a message {name!r:.80} is not known here, {', '.join(kinds)} are")
    return from_json(kinds[name], fields)


def send(message: object) -> None:
    """Write a message to stdout, in one write; half a line that stands there is ended."""
    os.write(1, f"\n{_MARK}{to_line(message)}\n".encode())


def document_in(line: str) -> dict[str, Any] | None:
    """The JSON of a message, or None for other output and for a line that was torn."""
    if not line.startswith(_MARK):
        return None
    try:
        document = json.loads(line[1:])
    except ValueError:
        return None
    return document if isinstance(document, dict) and "kind" in document else None
