"""Requests and Answers: the child's side of a session."""

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
    """Messages from stdin, until it closes because the parent no longer waits.

    If it closes while `is_busy`, this process receives SIGTERM, which stops a long request.
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
        # Not sys.stdin: its lock would still be held when the interpreter exits.
        lines = Lines(_STDIN)
        while line := lines.next(math.inf):
            self._read.put(line)
        if self._is_busy():
            os.kill(os.getpid(), signal.SIGTERM)
        self._read.put(b"")


class Answers:
    """Messages to the parent. It redirects stdout to stderr, because a reference may print."""

    def __init__(self) -> None:
        self._handle = os.dup(1)
        os.dup2(2, 1)
        # Child processes must not inherit it: they could send forged answers.
        os.set_inheritable(self._handle, False)

    def send(self, message: object) -> None:
        data = to_line(message).encode() + b"\n"
        while data:
            data = data[os.write(self._handle, data) :]
