"""Session: messages to a long-lived child and its answers, over any transport."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any, Protocol

from fictl.child.message import of_kind, to_line
from fictl.errors import FictlError


class Gone(FictlError):
    """The other end has ended and sends no more messages."""


class Late(Gone):
    """The other end did not answer in time."""


class Transport(Protocol):
    """Connection to the other end: pipes of a local process, or a network connection."""

    def write_line(self, line: str) -> None:
        """Send a line; raise Gone if nobody reads it any more."""

    def next_line(self, deadline: float) -> str | None:
        """Return the next line, '' at the end, None at the deadline (of time.monotonic)."""

    def close(self) -> str:
        """End the other end with all its descendants; return how it ended, in words."""


class Session:
    """Exchange of messages; `answers` are the types that the other end sends."""

    def __init__(self, transport: Transport, answers: Iterable[type[Any]]) -> None:
        self._transport = transport
        self._kinds = {kind.__name__: kind for kind in answers}

    def send(self, message: object) -> None:
        self._transport.write_line(to_line(message))

    def ask(self, message: object, seconds: float) -> Any:
        """Send a message and return its answer; raise Late at the time limit, Gone if the other end
        ended.

        An unreadable answer raises ValueError.
        """
        self.send(message)
        line = self._transport.next_line(time.monotonic() + seconds)
        if line is None:
            raise Late(f"it did not answer within {seconds:g} s")
        if not line:
            raise Gone("it has ended")
        return of_kind(self._kinds, json.loads(line))
