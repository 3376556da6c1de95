"""Destination of the call log: one write per record, so that records do not interleave."""

from __future__ import annotations

import os
import re
from pathlib import Path

from fictl import settings
from fictl.errors import InvalidValue, SetupError
from fictl.log import warn_once

_STREAMS = {"stdout": 1, "stderr": 2}
_VARIABLE = settings.LOGDEST.name


class LogDestination:
    """An open log file. It is opened at once, so that the first op's import reports a bad path.

    Records bypass Python's buffers, so that the OS keeps them when this process is killed; it
    appends the writes of threads and processes one after another.
    """

    def __init__(self, place: str) -> None:
        unknown = sorted(set(re.findall("%[a-zA-Z]", place)) - {"%i", "%r"})
        if unknown:
            raise InvalidValue(
                f"{_VARIABLE}={place!r}: {unknown[0]} means nothing",
                "%i is the process, %r the rank",
            )
        self._stream = _STREAMS.get(place)
        # Absolute, since the working folder may change before a forked child opens its own.
        self._place = str(Path(place).expanduser().absolute())
        self._identify()
        self._descriptor, self._is_own = self._open(), True
        os.register_at_fork(after_in_child=self._identify)

    def write(self, record: str) -> None:
        if not self._is_own:
            self._adopt()
        data = record.encode("utf-8", "backslashreplace")
        try:
            while data:  # A short write means a full disk, which the next write reports.
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            warn_once(f"calls are not logged: {_VARIABLE} cannot be written: {error.strerror}")

    def _identify(self) -> None:
        self._process, self._rank = str(os.getpid()), _rank()
        self.origin = f"pid={self._process} rank={self._rank}"  # Prefix of a record.
        self._is_own = False

    def _adopt(self) -> None:
        """Open a forked child's own file at its first record, since most children write none."""
        try:
            # The parent's is not closed: its descriptor may have been reused for another file.
            self._descriptor = self._open()
        except SetupError as error:  # It was open before: the call itself must not fail now.
            warn_once(str(error))
        self._is_own = True

    def _open(self) -> int:
        if self._stream is not None:
            return self._stream
        path = Path(self._place.replace("%i", self._process).replace("%r", self._rank))
        try:
            return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        except OSError as error:
            raise SetupError(
                f"{_VARIABLE}={self._place!r}: cannot write {path}: {error.strerror}",
                f"mkdir -p {path.parent}, or choose stderr, stdout or another path",
            ) from None


def _rank() -> str:
    """Return the rank, in characters valid in file names; '-' outside a job."""
    return re.sub(r"\W", "_", settings.RANK.get()) or "-"
