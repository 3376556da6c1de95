"""New texts that wait beside their places: those of a killed process go with the next command."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from fictl import private_folder, rooted
from fictl.errors import SetupError
from fictl.paths import cache_root, matching, real
from fictl.sealed import seal, unseal

_FOLDER, _SUFFIX = "scaffold", ".staged"
STAGED = ".scaffold"


def staged_name(path: Path) -> Path:
    """Path where a new text waits until all others are written."""
    return path.with_name(f".{path.name}{STAGED}")


@contextmanager
def noted(paths: Sequence[Path], folders: Sequence[Path]) -> Iterator[None]:
    """Keep a note of what is about to be made, locked for as long as this process lives."""
    note, handle = None, -1
    with suppress(OSError, SetupError):  # With no cache, who is killed leaves it for good.
        note = private_folder.make(cache_root(), _FOLDER) / f"{secrets.token_hex(8)}{_SUFFIX}"
        handle = _locked(note, {"paths": [*map(str, paths)], "folders": [*map(str, folders)]})
    try:
        yield
    finally:
        if note is not None and handle >= 0:
            note.unlink(missing_ok=True)
            os.close(handle)


def sweep() -> None:
    """Take away what processes that live no more have noted."""
    for note in matching(cache_root() / _FOLDER, f"*{_SUFFIX}"):
        with suppress(OSError):  # Its process lives, or another one sweeps.
            handle = os.open(note, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _take_away(note)
            finally:
                os.close(handle)


def _locked(note: Path, content: dict[str, list[str]]) -> int:
    """Write a note and lock it; it gets its name last, so that nobody removes it before."""
    fresh = note.with_name(f".{note.name}")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(handle, seal(content).encode())
        os.rename(fresh, note)
    except BaseException:
        os.close(handle)
        fresh.unlink(missing_ok=True)
        raise
    return handle


def _take_away(note: Path) -> None:
    with suppress(ValueError, KeyError, TypeError):
        content = unseal(rooted.read(note))
        for path in map(Path, content["paths"]):
            if path.name.endswith(STAGED) and real(path.parent) == path.parent:
                path.unlink(missing_ok=True)
        for folder in reversed(content["folders"]):
            with suppress(OSError):
                os.rmdir(folder)
    note.unlink(missing_ok=True)
