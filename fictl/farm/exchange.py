"""Files that a request or an answer needs: asked for, and sent, between its other messages."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from fictl.errors import FictlError, SetupError
from fictl.farm.blobs import BlobStore, blob_of, farm_folder, frames
from fictl.farm.line import Absent, Blob, Coming, Frame, Note, Wanted


class Exchange:
    """The worker's side."""

    def __init__(self, send: Callable[[object], None], receive: Callable[[], Any]) -> None:
        self._send, self._receive = send, receive
        self._blobs: BlobStore | None = None

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
        for blob in missing:
            try:
                self.blobs.receive(blob, self._frame)
            except OSError as error:  # A full disk is the place's fault, not the work's.
                what = f"a file of {blob.size} bytes cannot be kept: {error.strerror}"
                raise SetupError(what, f"make space in {farm_folder()}") from None

    def give(self, path: Path) -> Blob:
        """Send a file, and return its name."""
        blob = blob_of(path)
        self._send(Coming(blob))
        for frame in frames(blob, path):
            self._send(frame)
        return blob

    def _frame(self) -> Frame:
        try:
            message = self._receive()
        except StopIteration:
            raise SystemExit(130) from None
        if isinstance(message, Absent):
            raise FictlError(f"a file of the request is not there: {message.why}")
        if not isinstance(message, Frame):
            raise FictlError(f"{type(message).__name__} came instead of a file")
        return message
