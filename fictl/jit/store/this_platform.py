"""The platform of this process, and why a build of another one cannot be loaded."""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from fictl import settings
from fictl.jit.store.platform import VERSIONED, Platform, numbers

_CXX_LIBRARY = "libstdc++.so.6"


@cache
def here() -> Platform:
    """Return the platform of this process, with the version of its libc."""
    return Platform(os.uname().machine, sys.platform, tuple(_libc()))


def unfit(platform: str) -> str:
    """Say why a build for this platform cannot be loaded here; '' if it can.

    It also can if none is given: builds of older versions of fictl have none.
    """
    if not platform:
        return ""
    try:
        theirs = Platform.parse(platform)
    except ValueError as error:
        return str(error)
    ours = here()
    if (theirs.machine, theirs.system) != (ours.machine, ours.system):
        return f"it is for {theirs.machine}-{theirs.system}, this is {ours.machine}-{ours.system}"
    return next(filter(None, (_lacking(kind, floor) for kind, floor in theirs.needs)), "")


def _libc() -> Iterator[tuple[str, str]]:
    try:
        kind, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").split()
        yield kind, version
    except (ValueError, OSError):
        import sysconfig

        if "musl" in str(sysconfig.get_config_var("HOST_GNU_TYPE")):
            yield "musl", ""


def _lacking(kind: str, floor: str) -> str:
    if kind in ("glibc", "musl"):
        return _lacking_libc(kind, floor)
    prefix = VERSIONED.get(kind)
    if prefix is None:
        return f"it needs {kind}{floor}, which this version of fictl does not know"
    library = _cxx_library()
    if library is None or not floor or _defines(library, f"{prefix}_{floor}"):
        return ""
    return f"it needs {prefix}_{floor}, which {library} does not have"


def _lacking_libc(kind: str, floor: str) -> str:
    ours = here()
    if not ours.libc:
        return ""
    if kind != ours.libc:
        return f"it is for {kind}, this is {ours.libc}"
    version = dict(ours.needs)[kind]
    newer = floor and version and numbers(floor) > numbers(version)
    return f"it needs {kind} {floor}, here is {version}" if newer else ""


@cache
def _cxx_library() -> Path | None:
    """Return the C++ library of this process, or the one that it would load; None if unknown.

    Loading it for the question could put an older one before that of an environment.
    """
    mapped = (path for path in _mapped() if os.path.isfile(path))
    machine = here().machine
    folders = (
        *filter(None, settings.LD_LIBRARY_PATH.get().split(os.pathsep)),
        os.path.join(sys.base_prefix, "lib"),
        f"/usr/lib/{machine}-linux-gnu",
        f"/lib/{machine}-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
    )
    there = (path for path in (Path(folder, _CXX_LIBRARY) for folder in folders))
    return next((path for path in (*mapped, *there) if os.path.isfile(path)), None)


def _mapped() -> list[Path]:
    try:
        text = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return []
    return [Path(line.split(None, 5)[5]) for line in text.splitlines() if _CXX_LIBRARY in line]


@cache
def _defines(library: Path, version: str) -> bool:
    """True if a library has this symbol version. Searching its bytes is far faster than reading
    its tables.
    """
    try:
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
            return data.find(f"\0{version}\0".encode()) >= 0
    except (OSError, ValueError):
        return True  # Unreadable or empty: loading will tell.
