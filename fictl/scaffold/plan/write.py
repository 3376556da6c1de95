"""Carrying out a plan: all of its files or none, whatever stops it half way."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from fictl.errors import SetupError
from fictl.scaffold.plan.leftovers import noted, staged_name, sweep
from fictl.scaffold.plan.plan import FileChange, Plan
from fictl.scaffold.plan.undo import UndoRecord, begin, finish, refuse_links, take_back


def apply(plan: Plan, command: str) -> None:
    """`command` is what `--undo` will say that it takes back."""
    sweep()
    take_back(plan.root, unfinished_only=True)
    changes = plan.changes()
    if not changes:
        return
    new = [change.path for change in changes if change.after is not None]
    with (
        noted([*map(staged_name, new)], _missing(new)),
        _staged(plan.root, changes) as (staged, folders),
    ):
        record = UndoRecord.of(plan.root, command, changes, folders)
        begin(record)
        try:
            # Why: between the first file and the last nothing may stop this but the machine itself,
            # and then the record tells the next command what to take back.
            with _uninterrupted():
                _commit(changes, staged)
        except OSError as error:
            take_back(plan.root, unfinished_only=True)
            raise _cannot(error) from error
        finish(record)
    remove_empty(plan.root, [change.path for change in changes if change.after is None])


def remove_empty(root: Path, gone: Sequence[Path]) -> None:
    """The folders that have nothing in them now that these files are gone, up to the root."""
    for path in gone:
        for folder in path.parents:
            if folder == root or root not in folder.parents:
                break
            if not os.path.isdir(folder):
                continue  # gone with another file
            compiled = folder / "__pycache__"
            if any(entry != compiled for entry in folder.iterdir()):
                break
            shutil.rmtree(compiled, ignore_errors=True)
            folder.rmdir()


@contextmanager
def _staged(
    plan_root: Path, changes: Sequence[FileChange]
) -> Iterator[tuple[dict[Path, Path], list[Path]]]:
    """Every new text beside where it belongs; gone again, and the folders too, on any error."""
    staged: dict[Path, Path] = {}
    folders: list[Path] = []
    try:
        for change in changes:
            if change.after is not None:
                folders += _make_folders(change.path)
                staged[change.path] = _stage(change.path, change.after)
            else:
                refuse_links(plan_root, change.path)
                _refuse_read_only(change.path.parent)
        yield staged, folders
    except BaseException as error:
        for path in staged.values():
            path.unlink(missing_ok=True)
        for folder in reversed(folders):
            with suppress(OSError):
                folder.rmdir()
        if isinstance(error, OSError):
            raise _cannot(error) from error
        raise


def _refuse_read_only(folder: Path) -> None:
    """Nothing can be deleted there."""
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def _missing(paths: Sequence[Path]) -> list[Path]:
    """The folders of these files that are not there, the outermost first."""
    above = dict.fromkeys(folder for path in paths for folder in reversed(path.parents))
    return [folder for folder in above if not os.path.exists(folder)]


def _make_folders(path: Path) -> list[Path]:
    """Those that were not there, the outermost first."""
    created = []
    for folder in _missing([path]):
        folder.mkdir()
        created.append(folder)
    return created


def _stage(path: Path, text: str) -> Path:
    staged = staged_name(path)
    mode = path.stat().st_mode & 0o777 if os.path.exists(path) else 0o666
    handle = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
    except BaseException:
        staged.unlink()
        raise
    return staged


def _commit(changes: Sequence[FileChange], staged: dict[Path, Path]) -> None:
    for change in changes:
        if change.after is None:
            change.path.unlink()
        else:
            staged[change.path].replace(change.path)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C and a polite kill wait until the end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _cannot(error: OSError) -> SetupError:
    return SetupError(
        f"cannot write {error.filename or 'a file'}: {error.strerror}",
        "nothing was changed; is the folder yours, and is there room?",
    )
