"""Files that a request or an answer needs: asked for, and sent, between its other messages."""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import chain
from pathlib import Path
from typing import Any

from fictl.errors import FictlError, SetupError
from fictl.farm.blobs import BlobStore, blob_of, farm_folder, frames
from fictl.farm.line import Absent, AtRemote, Blob, Coming, Frame, Note, Taken, Wanted
from fictl.farm.relay import Relay


class Exchange:
    """The worker's side."""

    def __init__(self, send: Callable[[object], None], receive: Callable[[], Any]) -> None:
        self._send, self._receive = send, receive
        self._blobs: BlobStore | None = None
        self.relay: Relay | None = None

    @property
    def blobs(self) -> BlobStore:
        if self._blobs is None:
            self._blobs = BlobStore.of_user()
        return self._blobs

    def note(self, text: str) -> None:
        self._send(Note(text))

    def fetch(self, wanted: Collection[Blob]) -> None:
        """Have these blobs here; ask for those that are not."""
        missing = tuple(blob for blob in dict.fromkeys(wanted) if not self.blobs.has(blob))
        if not missing:
            return
        self._send(Wanted(missing))
        try:
            # First all that comes over the pipe: its writer does not wait for a slow remote.
            apart = [blob for blob in missing if not self._received(blob)]
            late = [blob for blob in apart if not self._taken(blob)]
            if late:
                self._send(Wanted(tuple(late), by_pipe=True))
            for blob in late:
                self.blobs.receive(blob, self._frame)
        except OSError as error:  # A full disk is the place's fault, not the work's.
            what = f"a file of the request cannot be kept: {error.strerror}"
            raise SetupError(what, f"make space in {farm_folder()}") from None

    def give(self, path: Path) -> Blob:
        """Send a file, and return its name."""
        blob = blob_of(path)
        if self.relay is not None and self.relay.put(blob, path):
            self._send(AtRemote(blob))
            if self._next(Taken).is_taken:
                return blob
        self._send(Coming(blob))
        for frame in frames(blob, path):
            self._send(frame)
        return blob

    def _received(self, blob: Blob) -> bool:
        """Receive what was asked for; False if the remote has it."""
        first = self._next(Frame, AtRemote)
        if isinstance(first, Frame):
            coming = chain((first,), iter(self._frame, None))
            self.blobs.receive(blob, lambda: next(coming))
            return True
        if first.blob != blob:
            raise FictlError("another file came than was asked for")
        return False

    def _taken(self, blob: Blob) -> bool:
        return self.relay is not None and self.relay.take(blob, self.blobs)

    def _frame(self) -> Frame:
        frame: Frame = self._next(Frame)
        return frame

    def _next(self, *kinds: type[Any]) -> Any:
        try:
            message = self._receive()
        except StopIteration:
            raise SystemExit(130) from None
        if isinstance(message, Absent):
            raise FictlError(f"a file of the request is not there: {message.why}")
        if not isinstance(message, kinds):
            raise FictlError(f"{type(message).__name__} came instead of a file")
        return message
