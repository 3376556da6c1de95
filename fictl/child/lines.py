"""Reading of lines from a pipe, with a deadline."""

from __future__ import annotations

import os
import select
import time


class Lines:
    """Reader of the file descriptor `handle`; input after a line is kept for the next one."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._read = bytearray()

    def next(self, deadline: float) -> bytes | None:
        """Return the next line; b"" at the end of the pipe, None at the deadline."""
        while b"\n" not in self._read:
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            if select.select([self._handle], [], [], min(left, 1.0))[0]:
                part = os.read(self._handle, 1 << 20)
                if not part:
                    return b""
                self._read += part
        line, _, rest = bytes(self._read).partition(b"\n")
        self._read[:] = rest
        return line
