"""Requests and Answers: the child's end of a session."""

from __future__ import annotations

import json
import math
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from fictl.child.lines import Lines
from fictl.child.message import of_kind, to_line

_STDIN = 0


class Requests:
    """Messages that come on stdin, until it ends: nobody waits for this process any more.

    It may end in the middle of a long request, too: this process is sent SIGTERM where `is_busy`.
    """

    def __init__(self, kinds: Iterable[type[Any]], is_busy: Callable[[], bool]) -> None:
        self._kinds = {kind.__name__: kind for kind in kinds}
        self._is_busy = is_busy
        self._read: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def __iter__(self) -> Iterator[Any]:
        while line := self._read.get():
            yield of_kind(self._kinds, json.loads(line))

    def _listen(self) -> None:
        # Not sys.stdin: at the end of the interpreter its lock would still be held.
        lines = Lines(_STDIN)
        while line := lines.next(math.inf):
            self._read.put(line)
        if self._is_busy():
            os.kill(os.getpid(), signal.SIGTERM)
        self._read.put(b"")


class Answers:
    """Messages to the other end. stdout is stderr from here on: a reference may print there."""

    def __init__(self) -> None:
        self._handle = os.dup(1)
        os.dup2(2, 1)
        # Processes that this one starts do not inherit it: they could answer in its place.
        os.set_inheritable(self._handle, False)

    def send(self, message: object) -> None:
        data = to_line(message).encode() + b"\n"
        while data:
            data = data[os.write(self._handle, data) :]
