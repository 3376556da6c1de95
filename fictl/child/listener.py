"""Listener to a child's output: each message goes to the handler of its type."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from fictl.child.codec import Malformed
from fictl.child.message import Done, Failed, document_in, of_kind
from fictl.errors import FictlError

Handler: TypeAlias = Callable[[Any], object]
_LAST = 12


class Listener:
    """Reader of a child's messages. It keeps Failed and Done itself; other types need a handler.

    lines: all other output that is not blank; each line is also passed to `on_line`.
    """

    def __init__(
        self,
        handlers: Mapping[type[Any], Handler],
        on_line: Callable[[str], object] = lambda line: None,
    ) -> None:
        own: dict[type[Any], Handler] = {Failed: self._fail, Done: self._end}
        self._handlers: dict[type[Any], Handler] = {**own, **handlers}
        self._kinds = {kind.__name__: kind for kind in self._handlers}
        self._on_line = on_line
        self.lines: list[str] = []
        self.error: FictlError | None = None
        self.done = False

    def hear(self, line: str) -> None:
        document = document_in(line)
        if document is None:
            if line.strip():
                self.lines.append(line.rstrip())
                self._on_line(line.rstrip())
            return
        try:
            message = of_kind(self._kinds, document)
        except Malformed as error:
            raise FictlError(f"a message of a child cannot be read: {error}") from error
        self._handlers[type(message)](message)

    def last_words(self, count: int = _LAST, marks: Sequence[str] = ()) -> str:
        """Return the end of the child's output, without a tool's lines, which begin with a mark."""
        own = [line for line in self.lines if not line.startswith(tuple(marks))]
        return "\n".join(own[-count:])

    def _fail(self, message: Failed) -> None:
        self.error = message.error

    def _end(self, message: Done) -> None:
        self.done = True
