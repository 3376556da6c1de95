"""The worker of one place, from this end: its start, its greeting, its requests and its end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from fictl.child.codec import Malformed
from fictl.child.last_lines import LastLines
from fictl.child.lines import TooLong
from fictl.child.lost import Lost, NotStarted, not_started
from fictl.child.message import of_kind
from fictl.child.session import Gone, Late, Session
from fictl.errors import FictlError, SetupError, shown
from fictl.farm.blobs import BlobStore, WrongBlob, frames
from fictl.farm.engine import engine_of, transport_of
from fictl.farm.line import (
    HEARTBEAT_SECONDS,
    MISSED_HEARTBEATS,
    PROTOCOL,
    Absent,
    AtRemote,
    Blob,
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
    NotDone,
    Note,
    Numbered,
    Ready,
    Taken,
    Wanted,
    ready_in,
)
from fictl.farm.place import Place
from fictl.farm.relay import Relay, known_remotes, relay_to
from fictl.printable import printable
from fictl.version import VERSION, commit

_START_SECONDS = 120.0
_LARGEST = 4 << 30
_MOST_STRANGE_LINES = 200  # A shell of another machine may greet its user first.
_ANSWERS = (Held, Evaluated, Deferred, JudgeFailed, CommandDone, NotDone)
_BETWEEN = (Heartbeat, Note, Wanted, Coming, AtRemote, Frame, Leaving)
_KINDS = {kind.__name__: kind for kind in (*_ANSWERS, *_BETWEEN)}

Files = Mapping[str, Path]


class Preempted(Lost):
    """The worker was asked to end: its work is for others, and nobody's fault."""


class Connection:
    """A worker, which must be greeted before it is given work. NotStarted: none came up.

    is_walled_in: it has said that it can judge what nobody trusts.
    """

    def __init__(self, place: Place, note: Callable[[str], object] = lambda text: None) -> None:
        self.place, self._note = place, note
        self._how_it_ended = ""
        self._asked = 0
        self._relay: Relay | None = None
        self.is_walled_in = False
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
            self._session.send(
                replace(greeting, heartbeat=HEARTBEAT_SECONDS, remotes=known_remotes())
            )
        while len(strange) < _MOST_STRANGE_LINES:
            try:
                line = self._next_line(deadline)
            except Lost as lost:
                raise not_started(lost.message, "") from None
            if not line:
                how = self.end() if line == "" else f"not ready within {_START_SECONDS:g} s"
                self.end()
                raise not_started(how, self._last.text() or "\n".join(strange))
            ready = ready_in(line)
            if ready is not None:
                self._last.pass_on()
                _, self._relay = relay_to((ready.remote,))
                self.is_walled_in = greeting.untrusted
                return _fitting(ready, self.place, greeting)
            strange.append(shown(line))
        self.end()
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
        request: Numbered,
        seconds: float,
        files: Files | None = None,
        into: BlobStore | None = None,
        noted: Callable[[], object] = lambda: None,
    ) -> Any:
        """Return the answer; raise Lost if none comes, or another than one to this request.

        files: those that the place may want, by hash. into: receives the blobs of the answer.
        noted: called when the place has something to say, as that it waits.
        """
        self._asked += 1
        self.send(replace(request, number=self._asked))
        try:
            return self._answer(_Limit(seconds), files or {}, into, noted)
        except (ValueError, WrongBlob) as error:
            self.end()
            raise Lost(f"its answer cannot be read: {error}") from None

    def interrupt(self) -> None:
        self._worker.terminate()

    def hang_up(self) -> None:
        self._worker.hang_up()

    def end(self) -> str:
        """End the process and all its descendants; return how it ended."""
        self._how_it_ended = self._how_it_ended or self._worker.close()
        return self._how_it_ended

    def _answer(
        self, limit: _Limit, files: Files, into: BlobStore | None, noted: Callable[[], object]
    ) -> Any:
        while True:
            message = self._next(limit)
            if isinstance(message, Note):
                noted()
                self._note(f"{self.place.name}: {shown(message.text)}")
            elif isinstance(message, Wanted):
                self._supply(message, files, limit)
            elif isinstance(message, Coming):
                self._receive(message, into, limit)
            elif isinstance(message, AtRemote):
                self._take(message, into, limit)
            elif isinstance(message, Numbered):
                return self._checked(message, limit)
            elif not isinstance(message, Heartbeat):
                raise Malformed(f"{type(message).__name__} came unasked")

    def _checked(self, answer: Numbered, limit: _Limit) -> Numbered:
        if isinstance(answer, CommandDone) and not limit.received >= {*answer.kept.values()}:
            raise Malformed("it names a file that did not come with it")
        if answer.number != self._asked:
            raise Malformed(f"it is one to request {answer.number}, not {self._asked}")
        if isinstance(answer, NotDone | JudgeFailed):
            return replace(answer, message=printable(answer.message), hint=printable(answer.hint))
        return answer

    def _next(self, limit: _Limit) -> Any:
        """Read one message. A worker is lost if it is late with its answer, or silent."""
        line = self._line_within(limit)
        if not line:
            raise self._lost(None)
        try:
            message = of_kind(_KINDS, json.loads(line))
        except ValueError:
            self._raise_if_leaving()
            raise
        except RecursionError:
            raise Malformed("it is nested too deeply") from None
        if isinstance(message, Leaving):
            self.end()
            raise Preempted("its process was asked to end")
        return message

    def _line_within(self, limit: _Limit) -> str:
        """Read one line. A slow connection is not silent: parts of a line count."""
        begun = time.monotonic()
        silent = MISSED_HEARTBEATS * HEARTBEAT_SECONDS
        while True:
            patient_until = max(begun, self._worker.heard) + silent
            line = self._next_line(min(limit.deadline, patient_until))
            if line is not None:
                return line
            self._raise_if_late(limit)
            if time.monotonic() >= max(begun, self._worker.heard) + silent:
                self.end()
                raise Lost(f"its process was silent for {silent:g} s")

    def _raise_if_late(self, limit: _Limit) -> None:
        if time.monotonic() >= limit.deadline:
            self.end()
            raise Lost(f"its process did not answer within {limit.seconds:g} s")

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

    def _supply(self, wanted: Wanted, files: Files, limit: _Limit) -> None:
        if wanted.by_pipe and self._relay is not None:
            self._relay.sends = False  # The place has no access, or somebody changes what is there.
        for blob in wanted.blobs:
            path = files.get(blob.sha256)
            if path is None:  # No file is for whoever asks: only those of this request.
                self.send(Absent(blob.sha256, "it was not offered"))
                return
            try:
                if not wanted.by_pipe and self._relay is not None and self._relay.put(blob, path):
                    self.send(AtRemote(blob))
                    continue
                for frame in frames(blob, path):
                    self._raise_if_late(limit)
                    self.send(frame)
            except Lost:
                raise
            except (OSError, FictlError) as error:
                why = getattr(error, "strerror", None) or str(error)
                self.send(Absent(blob.sha256, why))
                return

    def _take(self, message: AtRemote, into: BlobStore | None, limit: _Limit) -> None:
        """Receive a file of an answer from the remote; if that fails, it comes over the pipe."""
        store = _wanted(message.blob, into, limit.bytes_left)
        with _kept(message.blob, self.place, self.end):
            is_taken = self._relay is not None and self._relay.take(message.blob, store)
        if is_taken:
            limit.bytes_left -= message.blob.size
            limit.received.add(message.blob)
        self.send(Taken(is_taken))

    def _receive(self, coming: Coming, into: BlobStore | None, limit: _Limit) -> None:
        store = _wanted(coming.blob, into, limit.bytes_left)
        limit.bytes_left -= coming.blob.size

        def frame() -> Frame:
            while isinstance(message := self._next(limit), Heartbeat | Note):
                pass
            if isinstance(message, Frame):
                return message
            raise ValueError(f"{type(message).__name__} came instead of a file")

        with _kept(coming.blob, self.place, self.end):
            store.receive(coming.blob, frame)
        limit.received.add(coming.blob)

    def _lost(self, gone: Gone | None) -> Lost:
        if isinstance(gone, Late):
            self.end()
            return Lost(f"its process {gone.message.removeprefix('it ')}")
        return Lost(f"its process ended with {self.end()}")


class _Limit:
    """The time, and the bytes of files, that an answer may take; the files that have come."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.deadline = seconds, time.monotonic() + seconds
        self.bytes_left = _LARGEST
        self.received: set[Blob] = set()


def _wanted(blob: Blob, into: BlobStore | None, most: int) -> BlobStore:
    if into is None or not 0 <= blob.size <= most:
        raise ValueError(f"a file of {blob.size} bytes came that nobody asked for")
    return into


@contextmanager
def _kept(blob: Blob, place: Place, end: Callable[[], object]) -> Iterator[None]:
    """Say that this machine's disk, not the place, is at fault."""
    try:
        yield
    except OSError as error:
        end()
        what = f"a file of {blob.size} bytes from {place.name} cannot be kept here"
        raise SetupError(f"{what}: {error.strerror}", "make space in the cache") from None


def _fitting(ready: Ready, place: Place, greeting: Greeting) -> Ready:
    """Refuse a process of another fictl, one that needs a GPU and sees none, and one that would
    judge what nobody trusts without walls.
    """
    # Why: who commits to a checkout during a run from it must not lose the places of this machine.
    is_same = place.is_here and not place.python
    if (ready.protocol, ready.fictl) != (PROTOCOL, VERSION):
        raise NotStarted(
            f"fictl {shown(ready.fictl)} runs there (Python {shown(ready.python)}), "
            f"and this is fictl {VERSION}",
            "install the same version there",
        )
    if not is_same and ready.commit and commit() and ready.commit != commit():
        raise NotStarted(
            f"fictl {VERSION} of commit {shown(ready.commit)[:7]} runs there, and this is of "
            f"commit {commit()[:7]}",
            "install the same commit there",
        )
    if greeting.device == "cuda" and not ready.hardware:
        raise NotStarted("its process sees no GPU", "fictl doctor, run there, says why")
    if greeting.untrusted and ready.exposed:
        raise NotStarted(shown(ready.exposed), "fictl doctor, run there, says what it lacks")
    return ready
