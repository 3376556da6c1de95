"""The engine of places in a Ray cluster: an actor for each, which holds its worker."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from fictl.child.lines import LONGEST, TooLong
from fictl.child.message import to_line
from fictl.child.session import Gone, Late
from fictl.farm.line import Leaving
from fictl.farm.ray.holder import ERR, LATE
from fictl.farm.ray.link import ActorGone, Link, link_to

if TYPE_CHECKING:
    from fictl.farm.place import Place

START_SECONDS = 120.0
_STALL_SECONDS = 30.0
_END_SECONDS = 15.0
_PAUSE_SECONDS = 0.5


def start(place: Place, variables: Mapping[str, str], words: IO[bytes]) -> RayWorker:
    assert place.cluster is not None
    return RayWorker(link_to(place.cluster.address), place, os.fdopen(os.dup(words.fileno()), "wb"))


class RayWorker:
    """The worker behind an actor; its stderr goes to `words`.

    heard: the time of its last output, which may be a part of a line.
    """

    def __init__(self, link: Link, place: Place, words: IO[bytes]) -> None:
        assert place.cluster is not None
        self._link, self._needs, self._words = link, place.cluster, words
        self._spec = json.dumps({"python": place.python, "variables": {**place.variables}})
        self._patience = time.monotonic() + START_SECONDS
        self._hire()
        self._reading: Future[str] | None = None
        self._read = bytearray()
        self._searched = 0
        self.heard = time.monotonic()
        self._end = ""

    @property
    def has_ended(self) -> bool:
        """Tell whether it is known to have ended; a read waits even while nobody asks for lines."""
        if self._reading is None or not self._reading.done():
            return bool(self._end)
        return self._reading.exception() is not None or self._reading.result() == ""

    def write_line(self, line: str) -> None:
        """Write the line once the actor has a worker; raise Gone or Late."""
        try:
            self._wait_for_start(self._patience)
            why = self._link.ask(self._key, "write", line).result(_STALL_SECONDS)
        except NotYet:
            raise Late(f"it has read nothing for {_STALL_SECONDS:g} s") from None
        if why:
            raise (Late if why == LATE else Gone)(f"it is {why}")

    def next_line(self, deadline: float) -> str | None:
        try:
            while (line := self._whole_line()) is None:
                self._wait_for_start(deadline)
                self._reading = self._reading or self._link.ask(self._key, "read")
                part = self._reading.result(_until(deadline))
                self._reading = self._link.ask(self._key, "read") if part else self._reading
                if not part:
                    return ""
                self._take(part)
        except NotYet:
            return None
        except ActorGone as gone:
            return to_line(Leaving()) if gone.is_preempted else ""
        return line

    def terminate(self) -> None:
        self._patience = 0.0
        if self._started.done():
            self._link.ask(self._key, "terminate")
        else:
            self._link.dismiss(self._key)

    def hang_up(self) -> None:
        with suppress(Gone, NotYet):
            self._link.ask(self._key, "hang_up").result(_END_SECONDS)

    def close(self) -> str:
        """End the worker, its descendants and its actor; return how it ended."""
        if not self._end:
            self._end = self._closed()
            self._link.dismiss(self._key)
            self._words.close()
        return self._end

    def _hire(self) -> None:
        self._key = self._link.hire(self._needs)
        self._started = self._link.ask(self._key, "start", self._spec)

    def _wait_for_start(self, deadline: float) -> None:
        """Wait until the worker runs; a cluster may send it to a node that is dead already."""
        while True:
            try:
                self._started.result(_until(deadline))
            except ActorGone as gone:
                if not gone.is_node or time.monotonic() > self._patience:
                    raise
                time.sleep(_PAUSE_SECONDS)
                self._hire()
            else:
                return

    def _closed(self) -> str:
        if not self._started.done():
            self._say(f"the cluster has nothing free that is {self._needs}")
            return "no answer"
        try:
            return self._link.ask(self._key, "close").result(_END_SECONDS)
        except NotYet:
            return "no answer"
        except ActorGone as gone:
            return f"its Ray actor: {gone.message}"

    def _take(self, part: str) -> None:
        data = part[1:].encode("latin-1")
        if part[0] == ERR:
            with suppress(OSError):
                self._words.write(data)
                self._words.flush()
        else:
            self._read += data
            self.heard = time.monotonic()

    def _whole_line(self) -> str | None:
        while (end := self._read.find(b"\n", self._searched)) >= 0:
            line = bytes(self._read[:end])
            del self._read[: end + 1]
            self._searched = 0
            if line:
                return line.decode(errors="replace")
        self._searched = len(self._read)
        if self._searched > LONGEST:
            raise TooLong(f"a line of more than {LONGEST >> 20} MiB")
        return None

    def _say(self, text: str) -> None:
        with suppress(OSError, ValueError):
            self._words.write(f"{text}\n".encode())
            self._words.flush()


def _until(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())
