"""Paths of fictl's data and cache, and checks of the file system that holds a path."""

from __future__ import annotations

import glob
import os
import re
import sys
from contextlib import suppress
from pathlib import Path

from fictl import settings
from fictl.errors import SetupError

PACKAGE = Path(__file__).resolve().parent
ARTIFACTS = "artifacts"  # Folder in the cache with prebuilt modules that were pulled.
SOLUTIONS = "solutions"  # Folder in the cache where other people's solutions are built.
FARM = ("v1", ".farm")  # Folder in the cache of what comes from other machines.

_NETWORK = ("nfs", "cifs", "smb", "lustre", "gpfs", "beegfs", "ceph", "afs", "9p", "fuse.")


def data_root(name: str) -> Path:
    """Return the folder `kernels`, `templates` or `skills`: in the wheel, or beside a checkout's
    package.
    """
    packed = PACKAGE / "data" / name
    return packed if os.path.isdir(packed) else PACKAGE.parent / name


def cache_root() -> Path:
    """Return the folder of the writable store, without creating it."""
    base = settings.WORKSPACE_BASE.get()
    if base is not None:
        return base.absolute() / ".cache" / "fictl"
    try:
        # Not platformdirs: importing it takes longer than loading a module may.
        return (settings.XDG_CACHE_HOME.get() or Path("~/.cache").expanduser()) / "fictl"
    except RuntimeError as error:
        raise SetupError(
            f"there is no folder for the cache: HOME is unset and user {os.getuid()} has none",
            f"set HOME, or {settings.WORKSPACE_BASE.name} to a folder that you can write",
        ) from error


def artifacts_dir() -> Path:
    """Return the folder of artifacts, without creating it."""
    chosen = settings.ARTIFACTS_DIR.get()
    return cache_root() / ARTIFACTS if chosen is None else chosen.absolute()


def own_folders() -> dict[str, Path]:
    """Return the folders whose names tell of this machine and its user, by what each one is."""
    home = Path(os.path.expanduser("~"))  # Path.expanduser raises where there is none.
    folders = {"home": home} if home.is_absolute() else {}
    if sys.prefix != sys.base_prefix:
        folders["environment"] = Path(sys.prefix)
    folders |= {"cache": cache_root(), "fictl": PACKAGE.parent}
    return {name: folder for name, folder in folders.items() if folder != Path("/")}


def matching(folder: Path, pattern: str) -> list[Path]:
    """List the paths that match a pattern, sorted; an unsearchable folder counts as empty."""
    # Why not Path.glob: it stops at the first unsearchable folder, with or without an error.
    return sorted(folder / name for name in glob.glob(pattern, root_dir=folder))  # noqa: PTH207


def files_below(folder: Path) -> list[Path]:
    """List all files at any depth, sorted, without following links to folders.

    An unsearchable folder counts as empty.
    """
    paths: list[Path] = []
    pending: list[str | Path] = [folder]
    while pending:  # Not os.walk: a folder may be deeper than Python's stack.
        with suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                elif not (entry.is_symlink() and os.path.isdir(entry.path)):
                    paths.append(Path(entry.path))
    return sorted(paths)


def real(path: Path) -> Path:
    """Resolve every link of a path; a path with circular links is returned unchanged."""
    return Path(os.path.realpath(path))


def friendly(path: Path | str) -> str:
    """Format a path for people, with the home folder as `~`."""
    home = os.path.expanduser("~")
    text = str(path)
    short = f"~{text[len(home) :]}" if text.startswith(f"{home}{os.sep}") else text
    return printable(short)


def printable(text: str) -> str:
    """Format a path on one line in any encoding: file names may hold nearly any byte."""
    told = text.encode("utf-8", "backslashreplace").decode()
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", lambda sign: repr(sign[0])[1:-1], told)


def on_network(path: Path, mounts: str | None = None) -> bool:
    """True if `path` is on a network file system, where locks and mtimes are unreliable."""
    if mounts is None:
        try:
            mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return False
    best, kind = "", ""
    where = str(path.absolute())
    for line in mounts.splitlines():
        point, fs = (line.split() + ["", "", ""])[1:3]
        point = point.replace("\\040", " ")
        inside = where == point or where.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, fs
    return kind.startswith(_NETWORK)


# A Python does not import from its working directory, where anybody's file may be named as a module.
SAFE_PATH = {"PYTHONSAFEPATH": "1"}


def same_packages() -> dict[str, str]:
    """Return variables with which a child Python imports the same packages as this one."""
    path = os.pathsep.join([str(PACKAGE.parent), *filter(None, sys.path)])
    return {"PYTHONPATH": path, **SAFE_PATH}


def write_atomic(path: Path, text: str) -> None:
    """Write so that a reader sees the old text or the new one, never a part."""
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}")
    # Why not mkstemp: its files are private, but this one may have other readers.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
