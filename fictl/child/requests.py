"""Requests and Answers: the child's side of a session."""

from __future__ import annotations

import json
import math
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from fictl.child.lines import Lines, TooLong
from fictl.child.message import of_kind, to_line

_STDIN = 0
_MOST_WAITING = 16


class Requests:
    """Messages from stdin, until it closes because the parent no longer waits.

    If it closes while `is_busy`, this process receives SIGTERM, which stops a long request.

    first: reads the first message, whose sender may be of another version.
    on_end: called by a thread when stdin has closed.
    """

    def __init__(
        self,
        kinds: Iterable[type[Any]],
        is_busy: Callable[[], bool],
        first: Callable[[Any], Any] | None = None,
        on_end: Callable[[], object] = lambda: None,
    ) -> None:
        self._kinds = {kind.__name__: kind for kind in kinds}
        self._is_busy, self._first, self._on_end = is_busy, first, on_end
        # Why bounded: what is sent faster than it is handled must not fill the memory.
        self._read: queue.Queue[bytes] = queue.Queue(_MOST_WAITING)
        threading.Thread(target=self._listen, daemon=True).start()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        line = self._read.get()
        if not line:
            raise StopIteration
        document = json.loads(line)
        read, self._first = self._first, None
        return of_kind(self._kinds, document) if read is None else read(document)

    def _listen(self) -> None:
        # Not sys.stdin: its lock would still be held when the interpreter exits.
        lines = Lines(_STDIN)
        with suppress(TooLong, OSError):  # The parent cannot be understood: it has left.
            while line := lines.next(math.inf):
                self._read.put(line)
        self._on_end()
        if self._is_busy():
            os.kill(os.getpid(), signal.SIGTERM)
        self._read.put(b"")


class Answers:
    """Messages to the parent, from any thread.

    It redirects stdout to stderr, because a reference may print. `is_writing` is true during a
    line, which a signal's handler must not end in its middle: it sets `interrupted` instead.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.is_writing = False
        self.interrupted: BaseException | None = None
        self._handle = os.dup(1)
        os.dup2(2, 1)
        # Child processes must not inherit it: they could send forged answers.
        os.set_inheritable(self._handle, False)

    def send(self, message: object) -> None:
        data = memoryview(to_line(message).encode() + b"\n")
        is_main = threading.current_thread() is threading.main_thread()
        with self._lock:
            self.is_writing = is_main
            try:
                while data:
                    data = data[os.write(self._handle, data) :]
            finally:
                self.is_writing = False
        if is_main and self.interrupted is not None:
            raise self.interrupted
