"""The output of a sandboxed process: all of it, or its beginning and its end."""

from __future__ import annotations

import os
from contextlib import suppress

_FIRST, _LAST = 1 << 18, (5 << 20) - (1 << 18) - 256


class Log:
    """Stores at most 5 MB, however much is printed."""

    def __init__(self) -> None:
        self._first, self._last, self._size = bytearray(), bytearray(), 0

    def add(self, part: bytes) -> None:
        self._size += len(part)
        room = _FIRST - len(self._first)
        self._first += part[:room] if room > 0 else b""
        self._last += part[max(room, 0) :]
        if len(self._last) > 2 * _LAST:
            del self._last[:-_LAST]

    def take(self) -> str:
        """Return the output since the last call."""
        last = self._last[-_LAST:]
        left_out = self._size - len(self._first) - len(last)
        between = f"\n... {left_out} bytes left out ...\n".encode() if left_out else b""
        text = bytes(self._first + between + last).decode("utf-8", "replace")
        self._first.clear()
        self._last.clear()
        self._size = 0
        return text


class Printed:
    """The judge's end of the pipe that a process prints to, with its log."""

    def __init__(self, handle: int) -> None:
        self.handle, self.log, self.is_open = handle, Log(), True
        os.set_blocking(handle, False)

    def hear(self) -> None:
        """Read the current content of the pipe."""
        with suppress(OSError):
            part = os.read(self.handle, 1 << 20)
            self.is_open = bool(part)
            self.log.add(part)

    def close(self) -> None:
        if self.handle >= 0:
            os.close(self.handle)
            self.handle, self.is_open = -1, False
