"""The end of what a child prints to stderr, which says why it ended."""

from __future__ import annotations

import os
import threading
from codecs import getincrementaldecoder
from contextlib import suppress
from typing import IO

from fictl.printable import printable

_KEPT = 16 << 10
_PATIENCE_SECONDS = 1.0
_STDERR = 2


class LastLines:
    """A pipe that a thread reads; `end` is the child's side. Only its last part is kept.

    It passes nothing on before `pass_on`: the words of a start that fails belong to its error.
    """

    def __init__(self) -> None:
        handle, end = os.pipe()
        self.end: IO[bytes] = os.fdopen(end, "wb")
        self._kept = bytearray()
        self._lock = threading.Lock()
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._passes_on = False
        self._thread = threading.Thread(target=self._read, args=(handle,), daemon=True)
        self._thread.start()

    def pass_on(self) -> None:
        """Write to this process's stderr what was kept, and all that follows."""
        with self._lock:
            self._passes_on = True
            self._print(bytes(self._kept))

    def text(self) -> str:
        """Return the last part, after the child has ended."""
        self.end.close()
        self._thread.join(_PATIENCE_SECONDS)  # A descendant may still hold the pipe.
        with self._lock:
            return self._kept.decode(errors="replace")

    def _read(self, handle: int) -> None:
        with os.fdopen(handle, "rb", buffering=0) as pipe:
            while part := pipe.read(1 << 16):
                with self._lock:
                    self._kept += part
                    del self._kept[:-_KEPT]
                    if self._passes_on:
                        self._print(part)

    def _print(self, part: bytes) -> None:
        with suppress(OSError):
            os.write(_STDERR, printable(self._decoder.decode(part)).encode(errors="replace"))
