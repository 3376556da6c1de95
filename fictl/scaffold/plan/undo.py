"""Taking the last scaffold of a project back, as long as nobody has touched what it wrote."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from fictl import private_folder
from fictl.errors import SetupError, UsageError
from fictl.paths import cache_root, real, write_atomic
from fictl.scaffold.plan.leftovers import staged_name
from fictl.scaffold.plan.plan import FileChange
from fictl.sealed import seal, unseal
from fictl.user_file import read_bytes, read_text


@dataclass(frozen=True)
class WrittenFile:
    """A file that a command wrote, changed or deleted; hashes and texts are None where it was not."""

    path: str
    before: str | None
    after_sha256: str | None


@dataclass(frozen=True)
class UndoRecord:
    """The last command's changes to a project. `done` is false while it is running."""

    root: str
    command: str
    files: tuple[WrittenFile, ...]
    folders: tuple[str, ...]
    done: bool = False

    @classmethod
    def of(
        cls, root: Path, command: str, changes: Sequence[FileChange], folders: Sequence[Path]
    ) -> UndoRecord:
        written = tuple(WrittenFile(str(c.path), c.before, _sha256(c.after)) for c in changes)
        return cls(str(root), command, written, tuple(map(str, folders)))


def begin(record: UndoRecord) -> None:
    _write(record)


def finish(record: UndoRecord) -> None:
    _write(UndoRecord(record.root, record.command, record.files, record.folders, done=True))


def last(root: Path) -> UndoRecord | None:
    """Read what can be undone; None if nothing was written, or it was undone."""
    try:
        record = unseal(read_text(_place(root)))
        files = tuple(WrittenFile(**file) for file in record.pop("files"))
        return UndoRecord(files=files, **{**record, "folders": tuple(record["folders"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def refuse_links(root: Path, path: Path) -> None:
    """Refuse a path through a link: only files inside of the project are deleted."""
    for folder in path.parents:
        if root not in folder.parents:
            return
        if os.path.islink(folder):
            raise UsageError(
                f"{path} stays: {folder} is a link to {os.path.realpath(folder)}",
                "remove the link, or the files that it leads to, by hand",
            )


def take_back(root: Path, unfinished_only: bool = False) -> UndoRecord | None:
    """Undo the last command. A file that was edited since is an error, and nothing is done.

    One that a kill left unfinished goes back as far as it came.
    """
    record = last(root)
    if record is None or (unfinished_only and record.done):
        return None
    present = {file: _present(Path(file.path)) for file in record.files}
    edited = [
        written.path
        for written, text in present.items()
        if _sha256(text) != written.after_sha256 and (record.done or text != written.before)
    ]
    if edited:
        raise UsageError(
            f"`{record.command}` cannot be taken back: {', '.join(edited)} changed since",
            "delete or restore the files by hand",
        )
    for file in record.files:
        refuse_links(root, Path(file.path))
    for file, text in present.items():
        staged_name(Path(file.path)).unlink(missing_ok=True)
        if text != file.before:
            _restore(Path(file.path), file.before)
    for folder in reversed(record.folders):
        with suppress(OSError):
            Path(folder).rmdir()
    _place(root).unlink(missing_ok=True)
    return record


def _restore(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, text)


def _present(path: Path) -> str | None:
    try:
        return read_bytes(path).decode("utf-8", "replace")
    except FileNotFoundError:
        return None


def _sha256(text: str | None) -> str | None:
    return None if text is None else hashlib.sha256(text.encode()).hexdigest()


def _place(root: Path) -> Path:
    """Beside the builds, not in the project: nobody wants to commit it."""
    name = hashlib.sha256(str(real(root)).encode()).hexdigest()[:16]
    return cache_root() / "scaffold" / f"{name}.json"


def _write(record: UndoRecord) -> None:
    # Why suppress: with no cache there is no way back, and still no reason not to write.
    with suppress(OSError, SetupError):
        place = _place(Path(record.root))
        private_folder.make(cache_root(), place.parent.name)
        write_atomic(place, seal(asdict(record)))
