"""Reading of lines from a pipe, with a deadline."""

from __future__ import annotations

import os
import select
import time

# A result with its log is far below; who sends more without a line's end would fill the memory.
LONGEST = 64 << 20


class TooLong(ValueError):
    """A line that has not ended after as many bytes as may be read."""


class Lines:
    """Reader of the file descriptor `handle`; input after a line is kept for the next one.

    heard: the time (of time.monotonic) of the last input, which may be a part of a line.
    """

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._read = bytearray()
        self._searched = 0
        self.heard = time.monotonic()
        self._poll = select.poll()  # Not select.select: it takes no handle above 1023.
        self._poll.register(handle, select.POLLIN)

    def next(self, deadline: float) -> bytes | None:
        """Return the next line that is not empty; b"" at the end of the pipe, None at the
        deadline. Raise TooLong.
        """
        while (line := self._whole_line()) is None:
            self._searched = len(self._read)
            if self._searched > LONGEST:
                raise TooLong(f"a line of more than {LONGEST >> 20} MiB")
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            if self._poll.poll(min(left, 1.0) * 1000):
                part = os.read(self._handle, 1 << 20)
                if not part:
                    return b""
                self.heard = time.monotonic()
                self._read += part
        return line

    def _whole_line(self) -> bytes | None:
        while (end := self._read.find(b"\n", self._searched)) >= 0:
            line = bytes(self._read[:end])
            del self._read[: end + 1]
            self._searched = 0
            if line:
                return line
        return None
