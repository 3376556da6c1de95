"""A folder as a bucket, for file:// URLs. Nothing but the standard library is needed for it."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from fictl import private_folder, rooted
from fictl.errors import of_os
from fictl.jit.remote.bucket import BadAnswer, Listed, NotThere, RemoteFailed, checked, is_name
from fictl.paths import files_below

_CHUNK = 1 << 20
# As `rooted.created` names a file that is not whole yet.
_UNFINISHED = re.compile(r"(?P<folder>(?:[^/]+/)*)\.(?P<name>[^/]+)\.[0-9a-f]{8}")


@dataclass(frozen=True)
class FolderBucket:
    """Files below `root`. Links below it are not followed: others may have made them."""

    url: str
    root: Path
    lists: bool = True
    writable: bool = True

    def listed(self, prefix: str) -> Iterator[Listed]:
        self._require_root()
        return self._files(self.root / checked(prefix) if prefix else self.root, is_name)

    def unfinished(self) -> Iterator[Listed]:
        """Yield what is being written, or was when its writer was killed; no reader sees it."""
        return self._files(self.root, _is_unfinished)

    def read(self, name: str, largest: int) -> bytes:
        with self._opened(name) as file:
            data = file.read(largest + 1)
        if len(data) > largest:
            raise BadAnswer(f"{name} has more than {largest} bytes")
        return data

    def fetch(self, name: str, target: Path, size: int) -> str:
        digest, count = hashlib.sha256(), 0
        with self._opened(name) as file, target.open("xb") as copy:
            while chunk := file.read(min(_CHUNK, size + 1 - count)):
                count += len(chunk)
                digest.update(chunk)
                copy.write(chunk)
        if count != size:
            raise BadAnswer(f"{name} does not have {size} bytes")
        return digest.hexdigest()

    def size(self, name: str) -> int | None:
        try:
            with self._opened(name) as file:
                return os.fstat(file.fileno()).st_size
        except NotThere:
            return None

    def has_bytes(self, name: str, sha256: str) -> bool:
        """True if the file is there with exactly these bytes, which are all read."""
        digest = hashlib.sha256()
        try:
            with self._opened(name) as file:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
        except NotThere:
            return False
        return digest.hexdigest() == sha256

    def write(self, name: str, data: bytes) -> None:
        with self._created(name) as file:
            file.write(data)

    def send(self, name: str, source: Path) -> None:
        with self._created(name) as file, source.open("rb") as original:
            shutil.copyfileobj(original, file, _CHUNK)

    def delete(self, name: str) -> None:
        try:
            rooted.remove(self.root, self.root / (name if _is_unfinished(name) else checked(name)))
        except FileNotFoundError:
            pass
        except OSError as error:
            raise self._failed(error) from error

    def is_own(self, name: str = "") -> bool:
        path = self.root / checked(name) if name else self.root
        levels = [path, *path.parents]
        return all(map(_is_own, levels[: levels.index(self.root) + 1]))

    def _files(self, folder: Path, is_meant: Callable[[str], bool]) -> Iterator[Listed]:
        for path in files_below(folder):
            name = path.relative_to(self.root).as_posix()
            try:
                info = os.lstat(path)
            except OSError:
                continue  # Removed meanwhile.
            if is_meant(name) and stat.S_ISREG(info.st_mode):
                yield Listed(name, info.st_size, info.st_mtime)

    def _opened(self, name: str) -> BinaryIO:
        try:
            return rooted.opened(self.root, self.root / checked(name))
        except (FileNotFoundError, NotADirectoryError):
            self._require_root()
            raise NotThere(name) from None
        except OSError as error:
            raise self._failed(error) from error

    @contextmanager
    def _created(self, name: str) -> Iterator[BinaryIO]:
        try:
            private_folder.make_within(self.root)
            with rooted.created(self.root, self.root / checked(name)) as file:
                yield file
        except OSError as error:
            raise self._failed(error) from error

    def _require_root(self) -> None:
        """Raise RemoteFailed for a folder that cannot be read, or whose place is not even there."""
        try:
            os.scandir(self.root if os.path.lexists(self.root) else self.root.parent).close()
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> RemoteFailed:
        known = of_os(error)
        denied = isinstance(error, PermissionError)
        return RemoteFailed(
            self.url, error.strerror or str(error), known.hint if known else "", denied
        )


def _is_unfinished(name: str) -> bool:
    match = _UNFINISHED.fullmatch(name)
    return match is not None and is_name(match["folder"] + match["name"])


def _is_own(path: Path) -> bool:
    """True if only this user can write there; what is not there yet will be made by this user."""
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        return True
    others = stat.S_IWGRP | stat.S_IWOTH
    return info.st_uid == os.geteuid() and not info.st_mode & others
