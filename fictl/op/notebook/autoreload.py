"""FICTL_AUTORELOAD: reload an op before a call if its files were edited since the last call."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fictl.errors import UsageError
from fictl.op.notebook.reload import folder_of, reload_folder, watched_files
from fictl.op.watch.call import Call

Stamps = dict[Path, tuple[int, ...]]


class AutoReload:
    """Check the stat stamps of an op's files, which takes some microseconds per file."""

    def __init__(self) -> None:
        self._seen: dict[str, Stamps] = {}
        self._looking = threading.RLock()

    def before(self, call: Call) -> None:
        # The first call reloads as well: its files may have been edited since they were imported.
        name = call.op.module
        with self._looking:
            seen = self._seen.get(name)
            if seen is None or seen != _stamps(seen):
                self._seen[name] = _reload(name)

    def after(self, call: Call, result: Any) -> None: ...

    def failed(self, call: Call, error: BaseException) -> None: ...


def _reload(module: str) -> Stamps:
    try:
        folder = folder_of(module)
    except UsageError:  # Defined in a notebook or a script: it has no files to watch.
        return {}
    # Why before: the next call must see edits made during the reload.
    earlier = _stamps(watched_files(folder))
    reload_folder(folder)
    return _stamps(watched_files(folder)) | earlier


def _stamps(paths: Iterable[Path]) -> Stamps:
    return {path: _stamp(path) for path in paths}


def _stamp(path: Path) -> tuple[int, ...]:
    """Return the stat stamp of a file; empty if the file is gone."""
    try:
        stat = path.stat()
    except OSError:
        return ()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
