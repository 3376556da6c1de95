"""Cache on disk of the compilers' answers, so that a warm start runs no compiler."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fictl import paths, private_folder
from fictl.errors import SetupError
from fictl.sealed import seal, unseal

_Entries = dict[str, dict[str, Any]]
_loaded: dict[Path, _Entries] = {}


def recall(argv: Sequence[str]) -> dict[str, Any]:
    """Return the stored answers; empty if the program is unknown or has changed."""
    entry = _entries(_file()).get(" ".join(argv), {})
    return entry.get("answers", {}) if entry.get("stamp") == stamp(argv) else {}


def remember(argv: Sequence[str], **answers: Any) -> None:
    """Add answers. If the file cannot be written, they are kept in memory only."""
    file = _file()
    # Read again: another process may have added entries.
    entries = {**_entries(file), **_read(file)}
    merged = {**recall(argv), **answers}
    entries[" ".join(argv)] = {"stamp": stamp(argv), "answers": merged}
    _loaded[file] = entries
    try:
        private_folder.make(paths.cache_root(), "v1", ".memo")
        paths.write_atomic(file, seal(entries, indent=1))
    except (OSError, SetupError):
        pass


def stamp(argv: Sequence[str]) -> list[list[int]]:
    """Return the identity of the programs that begin `argv`; 'ccache g++ -m64' has two."""
    files = []
    for word in argv:
        if word.startswith("-"):
            break
        try:
            status = os.stat(word)
        except OSError:
            files.append([0])
            continue
        times = (status.st_mtime_ns, status.st_ctime_ns)
        files.append([status.st_dev, status.st_ino, status.st_size, *times])
    return files


def forget() -> None:
    """Clear the copy in memory; the file stays."""
    _loaded.clear()


def _file() -> Path:
    try:
        return paths.cache_root() / "v1" / ".memo" / "compilers.json"
    except SetupError:  # Code that needs the cache reports this itself.
        return Path(os.devnull)


def _entries(file: Path) -> _Entries:
    if file not in _loaded:
        _loaded[file] = _read(file)
    return _loaded[file]


def _read(file: Path) -> _Entries:
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(handle, encoding="utf-8") as stream:
            status = os.fstat(handle)
            # The file names programs and headers: ignore it if other users can write to it.
            if status.st_uid != os.getuid() or status.st_mode & 0o022:
                return {}
            return unseal(stream.read())
    except (OSError, ValueError):
        return {}
