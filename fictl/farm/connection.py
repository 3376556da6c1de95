"""The worker of one place, from this end: its start, its greeting, its requests and its end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from fictl.child.last_lines import LastLines
from fictl.child.lines import TooLong
from fictl.child.lost import Lost, NotStarted, not_started
from fictl.child.message import Failed, of_kind
from fictl.child.session import Gone, Late, Session
from fictl.errors import FictlError, shown
from fictl.farm.blobs import BlobStore, frames
from fictl.farm.engine import engine_of, transport_of
from fictl.farm.line import (
    PROTOCOL,
    SILENT_SECONDS,
    Absent,
    Coming,
    CommandDone,
    Deferred,
    Evaluated,
    Frame,
    Greeting,
    Heartbeat,
    Held,
    JudgeFailed,
    Leaving,
    Note,
    Ready,
    Wanted,
    ready_in,
)
from fictl.farm.place import Place
from fictl.version import VERSION, commit

_START_SECONDS = 120.0
_LARGEST = 4 << 30
_MOST_STRANGE_LINES = 200  # A shell of another machine may greet its user first.
_ANSWERS = (Held, Evaluated, Deferred, JudgeFailed, CommandDone, Failed)
_BETWEEN = (Heartbeat, Note, Wanted, Coming, Frame, Leaving)
_KINDS = {kind.__name__: kind for kind in (*_ANSWERS, *_BETWEEN)}

Files = Mapping[str, Path]


class Preempted(Lost):
    """The worker was asked to end: its work is for others, and nobody's fault."""


class Connection:
    """A worker, which must be greeted before it is given work. NotStarted: none came up."""

    def __init__(self, place: Place, note: Callable[[str], object] = lambda text: None) -> None:
        self.place, self._note = place, note
        self._how_it_ended = ""
        self._last = LastLines()
        try:
            variables = place.variables if place.is_here else {}
            self._worker = engine_of(place).start(place, variables, self._last.end)
        finally:
            self._last.end.close()
        self._session = Session(transport_of(self._worker), _ANSWERS)

    def greet(self, greeting: Greeting) -> Ready:
        """Read lines until the process says that it is ready; refuse one that does not fit."""
        strange: list[str] = []
        deadline = time.monotonic() + _START_SECONDS
        with suppress(Gone):
            self._session.send(greeting)
        while len(strange) < _MOST_STRANGE_LINES:
            line = self._next_line(deadline)
            if not line:
                how = self.end() if line == "" else f"not ready within {_START_SECONDS:g} s"
                self.end()
                raise not_started(how, self._last.text() or "\n".join(strange))
            ready = ready_in(line)
            if ready is not None:
                self._last.pass_on()
                return _fitting(ready, greeting.device)
            strange.append(shown(line))
        raise not_started("it is not a worker of fictl", strange[-1])

    @property
    def has_ended(self) -> bool:
        return self._worker.has_ended

    def send(self, message: object) -> None:
        try:
            self._session.send(message)
        except Gone as gone:
            raise self._lost(gone) from None

    def ask(
        self,
        message: object,
        seconds: float,
        files: Files | None = None,
        into: BlobStore | None = None,
        noted: Callable[[], object] = lambda: None,
    ) -> Any:
        """Return the answer; raise Lost if none comes. An unreadable one raises ValueError.

        files: those that the place may want, by hash. into: receives the blobs of the answer.
        noted: called when the place has something to say, as that it waits.
        """
        self.send(message)
        deadline = time.monotonic() + seconds
        while True:
            answer = self._next(deadline, seconds)
            if isinstance(answer, Note):
                noted()
                self._note(f"{self.place.name}: {shown(answer.text)}")
            elif isinstance(answer, Wanted):
                self._supply(answer, files or {})
            elif isinstance(answer, Coming):
                self._receive(answer, into, deadline, seconds)
            elif not isinstance(answer, Heartbeat):
                return answer

    def interrupt(self) -> None:
        self._worker.terminate()

    def hang_up(self) -> None:
        self._worker.hang_up()

    def end(self) -> str:
        """End the process and all its descendants; return how it ended."""
        self._how_it_ended = self._how_it_ended or self._worker.close()
        return self._how_it_ended

    def _next(self, deadline: float, seconds: float) -> Any:
        """Read one message. A worker is lost if it is late with its answer, or silent."""
        line = self._next_line(min(deadline, time.monotonic() + SILENT_SECONDS))
        if line is None:
            is_late = time.monotonic() >= deadline
            self.end()
            if is_late:
                raise Lost(f"its process did not answer within {seconds:g} s")
            raise Lost(f"its process was silent for {SILENT_SECONDS:g} s")
        if not line:
            raise self._lost(None)
        try:
            message = of_kind(_KINDS, json.loads(line))
        except ValueError:
            self._raise_if_leaving()
            raise
        if isinstance(message, Leaving):
            self.end()
            raise Preempted("its process was asked to end")
        return message

    def _raise_if_leaving(self) -> None:
        """Look behind a broken line: a worker that has to leave may have been writing it."""
        line = self._next_line(time.monotonic() + 1.0)
        if line and f'"{Leaving.__name__}"' in line:
            self.end()
            raise Preempted("its process was asked to end")

    def _next_line(self, deadline: float) -> str | None:
        try:
            return self._worker.next_line(deadline)
        except TooLong as error:
            self.end()
            raise Lost(f"its process sent {error}") from None

    def _supply(self, wanted: Wanted, files: Files) -> None:
        for blob in wanted.blobs:
            path = files.get(blob.sha256)
            if path is None:  # No file is for whoever asks: only those of this request.
                self.send(Absent(blob.sha256, "it was not offered"))
                return
            try:
                for frame in frames(blob, path):
                    self.send(frame)
            except Lost:
                raise
            except (OSError, FictlError) as error:
                why = getattr(error, "strerror", None) or str(error)
                self.send(Absent(blob.sha256, why))
                return

    def _receive(
        self, coming: Coming, into: BlobStore | None, deadline: float, seconds: float
    ) -> None:
        if into is None or coming.blob.size > _LARGEST:
            raise ValueError(f"a file of {coming.blob.size} bytes came that nobody asked for")

        def frame() -> Frame:
            while isinstance(message := self._next(deadline, seconds), Heartbeat | Note):
                pass
            if isinstance(message, Frame):
                return message
            raise ValueError(f"{type(message).__name__} came instead of a file")

        into.receive(coming.blob, frame)

    def _lost(self, gone: Gone | None) -> Lost:
        if isinstance(gone, Late):
            self.end()
            return Lost(f"its process {gone.message.removeprefix('it ')}")
        return Lost(f"its process ended with {self.end()}")


def _fitting(ready: Ready, device: str) -> Ready:
    """Refuse a process of another fictl, and one that needs a GPU and sees none."""
    if (ready.protocol, ready.fictl) != (PROTOCOL, VERSION):
        raise NotStarted(
            f"fictl {shown(ready.fictl)} runs there (Python {shown(ready.python)}), "
            f"and this is fictl {VERSION}",
            "install the same version there",
        )
    if ready.commit and commit() and ready.commit != commit():
        raise NotStarted(
            f"fictl {VERSION} of commit {shown(ready.commit)[:7]} runs there, and this is of "
            f"commit {commit()[:7]}",
            "install the same commit there",
        )
    if device == "cuda" and not ready.hardware:
        raise NotStarted("its process sees no GPU", "fictl doctor, run there, says why")
    return ready
