"""Files by the hash of their content, which travel between machines in frames."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from fictl import private_folder
from fictl.errors import FictlError, SetupError, of_os
from fictl.farm.line import FRAME_BYTES, Blob, Frame
from fictl.paths import FARM, cache_root
from fictl.removal import remove
from fictl.user_file import open_regular

_SHA256 = re.compile(r"[0-9a-f]{64}")
_PART = ".part"
# A blob that nothing has used for this long is removed.
_UNUSED_SECONDS = 7 * 86400.0
_ABANDONED_SECONDS = 86400.0


def farm_folder(*parts: str) -> Path:
    """Make the folder of what comes from other machines, for this user alone."""
    root = cache_root()
    try:
        return private_folder.make(root, *FARM, *parts)
    except OSError as error:
        raise of_os(error) or SetupError(f"{root}: {error}") from None


def blob_of(path: Path) -> Blob:
    """Hash a file."""
    digest, size = hashlib.sha256(), 0
    with open_regular(path) as file:
        while part := file.read(FRAME_BYTES):
            digest.update(part)
            size += len(part)
    return Blob(digest.hexdigest(), size)


def frames(blob: Blob, path: Path) -> Iterator[Frame]:
    """Yield the parts of a file, of as many bytes as it had when it was hashed."""
    left = blob.size
    with open_regular(path) as file:
        while left and (part := file.read(min(left, FRAME_BYTES))):
            left -= len(part)
            yield Frame(blob.sha256, base64.b64encode(part).decode())
    if not blob.size:
        yield Frame(blob.sha256, "")
    if left:
        raise FictlError(f"{path} became smaller while it was sent", "start the run again")


class WrongBlob(FictlError):
    """Bytes from another machine that are not those that were named."""


class BlobStore:
    """The blobs of this machine. A name is a hash, so that a file never changes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._checked: set[str] = set()

    @classmethod
    def of_user(cls) -> BlobStore:
        store = cls(farm_folder())
        store.sweep()
        return store

    def path(self, blob: Blob) -> Path:
        if not _SHA256.fullmatch(blob.sha256):
            raise WrongBlob(f"{blob.sha256[:80]!r} is not a hash")
        return self._folder / blob.sha256

    def has(self, blob: Blob) -> bool:
        """Tell whether the blob is here; one whose bytes have changed since is removed."""
        path = self.path(blob)
        if blob.sha256 in self._checked and os.path.isfile(path):
            return True
        try:
            is_whole = blob_of(path) == blob
        except OSError:
            return False
        if not is_whole:
            path.unlink(missing_ok=True)
            return False
        with suppress(OSError):
            os.utime(path)
        self._checked.add(blob.sha256)
        return True

    def receive(self, blob: Blob, next_frame: Callable[[], Frame]) -> Path:
        """Write the frames of a blob; refuse other bytes than were named."""
        return self.take(blob, lambda part: _written(part, blob, next_frame))

    def take(self, blob: Blob, write: Callable[[Path], str]) -> Path:
        """Have a blob written to a new file; refuse other bytes than were named.

        write: makes the file, and returns the hash of its bytes.
        """
        path = self.path(blob)
        part = self._folder / f"{os.getpid()}-{secrets.token_hex(4)}{_PART}"
        try:
            if write(part) != blob.sha256:
                raise WrongBlob(f"a blob came with other bytes than {blob.sha256[:12]}…")
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
        self._checked.add(blob.sha256)
        return path

    def sweep(self) -> None:
        """Remove blobs that nothing has used for days, and parts of transfers that broke off."""
        now = time.time()
        with suppress(OSError):
            for entry in [*os.scandir(self._folder)]:
                is_part = entry.name.endswith(_PART)
                if not (is_part or _SHA256.fullmatch(entry.name)):
                    continue
                limit = _ABANDONED_SECONDS if is_part else _UNUSED_SECONDS
                with suppress(OSError):
                    if now - entry.stat(follow_symlinks=False).st_mtime > limit:
                        remove(Path(entry.path))


def _written(part: Path, blob: Blob, next_frame: Callable[[], Frame]) -> str:
    digest, size = hashlib.sha256(), 0
    with open(part, "xb") as file:
        while True:
            data = _bytes(next_frame(), blob)
            size += len(data)
            if size > blob.size:
                raise WrongBlob(f"a blob of {blob.size} bytes came with {size} or more")
            digest.update(data)
            file.write(data)
            if size == blob.size:
                return digest.hexdigest()


def _bytes(frame: Frame, blob: Blob) -> bytes:
    if frame.sha256 != blob.sha256:
        raise WrongBlob(f"a part of {frame.sha256[:12]!r} came instead of {blob.sha256[:12]}…")
    try:
        data = base64.b64decode(frame.data, validate=True)
    except ValueError:
        raise WrongBlob(f"a part of {blob.sha256[:12]}… is not base64") from None
    if not data and blob.size:
        raise WrongBlob(f"a part of {blob.sha256[:12]}… is empty")
    return data
