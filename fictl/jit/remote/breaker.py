"""Memory of this machine about a remote, for a minute: that it is down, and what it lacks.

Both are files whose mtime counts, so that one process asks and the others need not.
"""

from __future__ import annotations

import hashlib
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fictl import private_folder
from fictl.errors import SetupError
from fictl.jit.remote.bucket import RemoteFailed
from fictl.jit.store.stores import LAYOUT
from fictl.paths import cache_root, write_atomic
from fictl.user_file import read_text

FOLDER = ".remote"
SECONDS = 60.0
_LONGEST_REASON = 1000
_MANY = 200

_down: dict[tuple[Path, str], str] = {}


@dataclass(frozen=True)
class Breaker:
    """The memory about one URL, in the folder of the cache at `root`."""

    root: Path
    url: str

    @classmethod
    def of(cls, url: str) -> Breaker:
        return cls(cache_root(), url)

    def reason(self) -> str:
        """Return why the remote is not asked; '' if it is. A process that met it never asks again."""
        known = _down.get((self.root, self.url))
        if known is not None:
            return known
        path = self._path("down")
        if not _is_fresh(path):
            return ""
        with suppress(OSError, UnicodeDecodeError):
            return read_text(path, largest=_LONGEST_REASON) or "it failed a moment ago"
        return ""

    def trip(self, failure: RemoteFailed) -> None:
        reason = failure.reason
        _down[self.root, self.url] = reason
        if not failure.here_only:
            self._write(self._path("down"), reason[: _LONGEST_REASON // 4])

    def lacks(self, what: str) -> bool:
        """True if the remote did not have it a moment ago."""
        return _is_fresh(self._path("absent", what))

    def note_absent(self, what: str) -> None:
        self._write(self._path("absent", what), "")

    def forget(self) -> None:
        """Ask again: the user named the remote in a command."""
        _down.pop((self.root, self.url), None)
        with suppress(OSError):
            self._path("down").unlink()

    def _path(self, kind: str, what: str = "") -> Path:
        name = hashlib.sha256(f"{self.url}\n{what}".encode()).hexdigest()[:32]
        return self.root / LAYOUT / FOLDER / f"{kind}-{name}"

    def _write(self, path: Path, text: str) -> None:
        # Why suppressed: in a cache that cannot be written every process asks for itself.
        with suppress(OSError, SetupError):
            private_folder.make(self.root, LAYOUT, FOLDER)
            _sweep(path.parent)
            write_atomic(path, text)


def _is_fresh(path: Path) -> bool:
    """True if the file was written within a minute; a time in the future is a clock set back."""
    try:
        return 0 <= time.time() - path.stat().st_mtime < SECONDS
    except OSError:
        return False


def _sweep(folder: Path) -> None:
    """Remove what no longer counts, once there is much of it."""
    paths = list(folder.iterdir())
    for path in paths if len(paths) > _MANY else ():
        if not _is_fresh(path):
            path.unlink(missing_ok=True)
