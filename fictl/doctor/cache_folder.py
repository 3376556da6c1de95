"""Check of the cache folder: writable, private, with space, on a file system that runs code."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fictl import settings
from fictl.doctor.finding import DoctorFinding, error, ok, warning
from fictl.errors import SetupError
from fictl.jit.cache.inventory import modules
from fictl.jit.store.stores import writable_store
from fictl.paths import cache_root, friendly, on_network

if TYPE_CHECKING:
    from fictl.doctor.facts import Facts

_NAME = "cache"
_LITTLE = 2 << 30
_MOVE = f"set {settings.WORKSPACE_BASE.name} to a folder"


def cache_folder(facts: Facts) -> Iterator[DoctorFinding]:
    root = cache_root()
    findings = [*_writable(root), *_private(), *_file_system(root)]
    yield from findings or [
        ok(_NAME, f"{friendly(root)}, {_free(_existing(root)) / 2**30:.0f} GiB free")
    ]


def temporary_folder(facts: Facts) -> Iterator[DoctorFinding]:
    """Check the temporary folder, where nvcc writes its intermediate files."""
    folder = Path(tempfile.gettempdir())
    if _free(folder) < _LITTLE // 4:
        yield warning(
            "temporary folder",
            f"{folder} has {_free(folder) >> 20} MiB free; compilers write there",
            "free some space there, or set TMPDIR to another folder",
        )


def stores(facts: Facts) -> Iterator[DoctorFinding]:
    for root in settings.STORES.get():
        if not os.access(root, os.R_OK | os.X_OK):
            yield warning(
                "store",
                f"{friendly(root)} cannot be read: its builds are not used",
                f"take it out of {settings.STORES.name}, or make it readable",
            )


def _writable(root: Path) -> Iterator[DoctorFinding]:
    place = _existing(root)
    try:
        if not os.path.isdir(place):
            raise NotADirectoryError(0, "not a folder")
        # Why bytes: on a full disk an empty file can still be created.
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(bytes(1 << 16))
    except OSError as problem:
        # A machine that only runs prebuilt modules writes nothing.
        say = warning if settings.DISABLE_JIT.get() else error
        text = f"{friendly(root)} cannot be written: {problem.strerror} ({friendly(place)})"
        yield say(
            _NAME, text, f"chown or chmod {friendly(place)}, free some space, or {_MOVE} of yours"
        )


def _private() -> Iterator[DoctorFinding]:
    try:
        store = writable_store()
        store.check_private()
        for module in sorted(modules(store.root)):
            store.check_private(*module)
    except SetupError as problem:
        yield error(_NAME, problem.message, problem.hint)
    except OSError:
        return  # Said above: it cannot even be looked at.


def _file_system(root: Path) -> Iterator[DoctorFinding]:
    place = _existing(root)
    if os.statvfs(place).f_flag & os.ST_NOEXEC:
        text = (
            f"{friendly(root)} is on a file system mounted noexec: no module can be loaded from it"
        )
        yield error(_NAME, text, f"{_MOVE} on another, or: sudo mount -o remount,exec …")
    if _free(place) < _LITTLE:
        text = f"{friendly(root)}: {_free(place) >> 20} MiB free"
        yield warning(_NAME, text, f"fictl cache gc --max-size 1G, or {_MOVE} with room")
    if on_network(place):
        text = f"{friendly(root)} is on a network file system: slow, and without locks work is done twice"
        yield warning(_NAME, text, f"{_MOVE} on a local disk")


def _existing(path: Path) -> Path:
    """Nearest existing folder, whose file system a new folder would be on."""
    return next((place for place in (path, *path.parents) if os.path.exists(place)), Path("/"))


def _free(folder: Path) -> int:
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize
