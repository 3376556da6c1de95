"""Facts about source files: the hash of their bytes, and all project headers they can include."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fictl.errors import unreadable
from fictl.paths import real
from fictl.user_file import read_bytes

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*(<[^>\n]+>|"[^"\n]+")', re.MULTILINE)

# Headers of these libraries are identified by the library's version, not by their bytes.
_LIBRARY_OF = {
    "cutlass": "cutlass",
    "cute": "cutlass",
    "cub": "cccl",
    "thrust": "cccl",
    "cuda": "cccl",
    "nv": "cccl",
}


# Two edits within one tick of a file system's clock look like one; ticks are 1 to 10 ms.
_TICK_NS = 50_000_000

Stamp = tuple[int, int, int, int, int]


@dataclass(frozen=True)
class FileFacts:
    """The hash of a file's bytes and the names it includes; quoted names keep their quote."""

    sha256: str
    includes: tuple[str, ...]
    stamp: Stamp


@dataclass(frozen=True)
class Reached:
    """The project files that a source reaches, by path-independent name, and libraries used."""

    files: dict[str, Path]
    libraries: frozenset[str]


_known: dict[Stamp, FileFacts] = {}


def facts(path: Path) -> FileFacts:
    """Read a file, once per (device, inode, size, mtime, ctime): every edit changes the ctime."""
    import hashlib

    now = time.time_ns()
    try:
        stat = path.stat()
    except OSError as error:
        raise unreadable(path, error) from error
    stamp = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
    known = _known.get(stamp)
    if known is None:
        data = read_bytes(path)
        names = tuple(os.fsdecode(match) for match in _INCLUDE.findall(data))
        known = FileFacts(hashlib.sha256(data).hexdigest(), names, stamp)
        if now - stat.st_ctime_ns > _TICK_NS:
            _known[stamp] = known
    return known


def reach(sources: Iterable[Path], base: Path, include_dirs: tuple[Path, ...]) -> Reached:
    """Follow all `"…"` and `<…>` includes, also inside a false `#if`: a superset of those used."""
    files: dict[str, Path] = {}
    libraries: set[str] = set()
    pending = list(sources)
    seen: set[Path] = set()
    while pending:
        path = pending.pop()
        if path in seen:
            continue
        seen.add(path)
        files[portable_name(path, base, include_dirs)] = path
        for include in facts(path).includes:
            header = _resolve(include, path.parent, include_dirs)
            if header is not None:
                pending.append(header)
            elif library := _LIBRARY_OF.get(include[1:-1].split("/")[0]):
                libraries.add(library)
    return Reached(dict(sorted(files.items())), frozenset(libraries))


def _resolve(include: str, folder: Path, include_dirs: tuple[Path, ...]) -> Path | None:
    name = include[1:-1]
    places = (folder, *include_dirs) if include[0] == '"' else include_dirs
    for place in places:
        candidate = os.path.join(place, name)  # Not pathlib: this loop is most of a warm load.
        if os.path.isfile(candidate):
            return _without_dots(Path(candidate)) if ".." in name else Path(candidate)
    return None


def _without_dots(path: Path) -> Path:
    """Return one name per file. Links are kept: a compiler searches beside the link itself."""
    normal = Path(os.path.normpath(path))
    return normal if os.path.exists(normal) and normal.samefile(path) else real(path)


def portable_name(path: Path, base: Path, include_dirs: tuple[Path, ...]) -> str:
    """Return `launcher.cu` in the op's folder, `<fictl/…>` on include paths, in any checkout."""
    text = str(path)
    roots = [root for root in (base, *include_dirs) if text.startswith(f"{root}{os.sep}")]
    if not roots:
        return text
    nearest = max(roots, key=lambda root: len(str(root)))
    name = text[len(str(nearest)) + 1 :]
    return name if nearest == base else f"<{name}>"


def locate(name: str, base: Path, include_dirs: tuple[Path, ...]) -> Path | None:
    """Return the local file of a portable name."""
    if name.startswith("<"):
        return _resolve(name, base, include_dirs)
    path = base / name
    return path if os.path.isfile(path) else None
