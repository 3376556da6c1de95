"""The files of a project, packed for another machine and unpacked there."""

from __future__ import annotations

import os
import stat
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from fictl.errors import FictlError, UsageError, shown
from fictl.paths import files_below
from fictl.process import run
from fictl.user_file import open_regular

MOST_FILES, MOST_BYTES = 100_000, 1 << 30
# Results of builds and environments, which differ from machine to machine.
_LEFT_OUT = {"__pycache__", "node_modules", "build", "dist", "venv", "site-packages"}


def pack(root: Path, target: Path, also: Path | None = None) -> None:
    """Pack the files of a project: those that git tracks or would, else all but hidden ones.

    Equal files make equal bytes, so that a place that has them is not sent them again.
    also: a folder whose files are added.
    """
    own = [(root, name) for name in sorted({*(_of_git(root) or _all(root))})]
    _write(target, root, own + (_below(also) if also else []))


def pack_folder(folder: Path, target: Path) -> None:
    """Pack every regular file of a folder."""
    _write(target, folder, _below(folder))


def unpack(packed: Path, folder: Path) -> None:
    """Unpack regular files below `folder`; refuse names that lead out, links, and too much."""
    try:
        with tarfile.open(packed, "r:") as archive:
            count = size = 0
            for member in archive:
                count, size = count + 1, size + max(member.size, 0)
                if count > MOST_FILES or size > MOST_BYTES:
                    raise FictlError(f"{packed.name} has more files or bytes than fictl takes")
                _extract(archive, member, folder)
    except (tarfile.TarError, EOFError) as error:
        raise FictlError(f"{packed.name} cannot be unpacked: {error}") from None


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    parts = PurePosixPath(member.name).parts
    is_inside = parts and parts[0] != "/" and ".." not in parts and "\0" not in member.name
    if not is_inside or not member.isreg():
        raise FictlError(f"{shown(member.name)} is not a file of a project")
    path = folder.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    source = archive.extractfile(member)
    assert source is not None
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        handle = os.open(path, flags, 0o755 if member.mode & 0o100 else 0o644)
    except FileExistsError:
        raise FictlError(f"{shown(member.name)} is there twice") from None
    with os.fdopen(handle, "wb") as file:
        while part := source.read(1 << 20):
            file.write(part)


def _below(folder: Path) -> list[tuple[Path, str]]:
    return [(folder, str(path.relative_to(folder))) for path in files_below(folder)]


def _write(target: Path, root: Path, names: Iterable[tuple[Path, str]]) -> None:
    count = size = 0
    with tarfile.open(target, "w:", format=tarfile.GNU_FORMAT) as archive:
        for folder, name in names:
            path = folder / name
            status = os.lstat(path) if os.path.lexists(path) else None
            # A link would lead elsewhere on another machine.
            if status is None or not stat.S_ISREG(status.st_mode):
                continue
            count, size = count + 1, size + status.st_size
            if count > MOST_FILES or size > MOST_BYTES:
                raise UsageError(
                    f"{root} has more than {MOST_FILES} files or {MOST_BYTES >> 20} MiB",
                    "list what is not of the project in .gitignore",
                )
            entry = tarfile.TarInfo(name)
            entry.size = status.st_size
            entry.mode = 0o755 if status.st_mode & 0o100 else 0o644
            with open_regular(path) as file:
                archive.addfile(entry, file)


def _of_git(root: Path) -> list[str]:
    """List the files that git knows or would add; none where there is no git."""
    argv: list[str | Path] = [
        "git",
        "-C",
        root,
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    try:
        listed = run(argv, {"GIT_OPTIONAL_LOCKS": "0"})
    except FictlError:
        return []
    return [name for name in listed.output.split("\0") if name] if listed.code == 0 else []


def _all(root: Path) -> Iterator[str]:
    pending: list[Path] = [root]
    while pending:
        for entry in os.scandir(pending.pop()):
            if entry.is_dir(follow_symlinks=False):
                pending += [Path(entry.path)] if _is_kept(entry.name) else []
            elif _is_kept(entry.name):
                yield str(Path(entry.path).relative_to(root))


def _is_kept(name: str) -> bool:
    return not (name.startswith(".") or name in _LEFT_OUT)
