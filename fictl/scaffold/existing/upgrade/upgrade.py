"""A plan by which ops that an older scaffold wrote are as it writes them now, with the user's changes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fictl.errors import FictlError, UsageError
from fictl.paths import matching
from fictl.project import OpFolder, folders
from fictl.scaffold.existing.belongings import own_files
from fictl.scaffold.existing.upgrade.again import rewritten
from fictl.scaffold.existing.upgrade.file_upgrade import FileTexts, FileUpgrade, upgraded
from fictl.scaffold.existing.upgrade.merge import marks_in
from fictl.scaffold.existing.upgrade.op_upgrade import OpUpgrade
from fictl.scaffold.kinds.polish import polish
from fictl.scaffold.new.new_op import place
from fictl.scaffold.plan.plan import Plan
from fictl.scaffold.record import FILE, ScaffoldRecord, read_record
from fictl.scaffold.record import place as record_place
from fictl.user_file import read_bytes
from fictl.version import VERSION

_UNKNOWN = "has no record of its scaffold"
_HOW = (
    "an older fictl wrote it, or nobody did: fictl new-op with the words of then and --diff shows "
    "what the scaffold writes now, and --force writes it with a record; git diff then shows what "
    "was yours"
)
_OUTSIDE = "kept: the scaffold writes it no more, and it is not in the folders of the op"


def examine(folder: OpFolder, wanted: bool = True) -> OpUpgrade:
    """Compare an op with what the scaffold would write; nothing is written. An op without a record
    is an error if it is `wanted` by its name.
    """
    try:
        record = read_record(folder)
        if record is not None:
            return _compared(folder, record)
    except FictlError as error:
        return OpUpgrade(folder, error=error)
    return OpUpgrade(folder, error=UsageError(f"{folder} {_UNKNOWN}", _HOW) if wanted else None)


def plan_upgrade(top: Path, upgrades: Sequence[OpUpgrade]) -> Plan:
    """All files of all ops, with their new records: written together or not at all."""
    files: dict[Path, str | None] = {}
    for upgrade in upgrades:
        files |= {file.path: file.text for file in upgrade.files if file.writes}
        if upgrade.record is not None:
            files[record_place(upgrade.folder)] = upgrade.record.text()
    return Plan(top, files)


def without_records(plan: Plan) -> Plan:
    """The part of a plan that people read."""
    return replace(plan, files={p: text for p, text in plan.files.items() if p.name != FILE})


def _compared(folder: OpFolder, record: ScaffoldRecord) -> OpUpgrade:
    marks = tuple(_marks(folder))
    if marks:
        raise FictlError(
            f"{folder} has conflicts that nobody has resolved: {', '.join(marks)}",
            "edit the lines between <<<<<<< and >>>>>>>, then upgrade once more",
        )
    new = rewritten(folder.project, record)
    first, now = record.files, new.files
    changed = [where for where in {**first, **now} if first.get(where) != now.get(where)]
    if not changed:
        return OpUpgrade(folder, record.version)
    return OpUpgrade(folder, record.version, tuple(_files(folder, first, now, changed)), new)


def _files(
    folder: OpFolder, first: Mapping[str, str], now: Mapping[str, str], changed: Sequence[str]
) -> Iterator[FileUpgrade]:
    project = folder.project
    known = {place(project, where) for where in {**first, **now}}
    others = _others(folder, known)
    paths = {where: place(project, where) for where in changed}
    for path in paths.values():
        _refuse_links(project.top, path)
    before = _polished({paths[where]: first[where] for where in changed if where in first})
    after = _polished({paths[where]: now[where] for where in changed if where in now})
    for where, path in paths.items():
        spellings = (first[where], before[path]) if where in first else ()
        mine = _text(path)
        # Why: where no formatter was at hand when the op was written, none has its way with it now.
        raw = where in first and mine == first[where] != before[path]
        texts = FileTexts(spellings, now.get(where) if raw else after.get(path), mine)
        if texts.now is None and not _is_own(folder, path):
            yield FileUpgrade(path, "kept", why=_OUTSIDE)
        else:
            yield upgraded(path, texts, others, f"fictl {VERSION}")


def _polished(texts: Mapping[Path, str]) -> dict[Path, str]:
    return polish(texts) if texts else {}


def _others(folder: OpFolder, known: set[Path]) -> dict[Path, str]:
    """Files of the op that the scaffold did not write: one may be one of its own, renamed."""
    texts: dict[Path, str] = {}
    for where in (folder.path, folder.header.parent, folder.test.parent):
        for path in matching(where, "*"):
            if path in known or os.path.islink(path) or not os.path.isfile(path):
                continue
            if _is_own(folder, path) and path.name != FILE and (text := _text(path)) is not None:
                texts[path] = text
    return texts


def _is_own(folder: OpFolder, path: Path) -> bool:
    """Tell if a file is the op's: in its folder, or beside its header or test under its name, and no other op's."""
    if folder.path in path.parents:
        return True
    beside = path.parent in (folder.header.parent, folder.test.parent)
    return beside and folder.module in path.name and path not in _of_others(folder)


def _of_others(folder: OpFolder) -> set[Path]:
    others = (other for other in folders(folder.project) if other != folder)
    return {path for other in others for _, path in other.files()}


def _marks(folder: OpFolder) -> Iterator[str]:
    for path in own_files(folder):
        if path.name != FILE and (text := _text(path)) is not None:
            shown = path.relative_to(folder.project.top).as_posix()
            yield from (f"{shown}:{line}" for line in marks_in(text))


def _refuse_links(top: Path, path: Path) -> None:
    """Only files inside of the project are written: a link may lead anywhere."""
    if top not in path.parents:
        raise UsageError(f"{path} is not below {top}", "its template has another name for it")
    for part in (path, *path.parents):
        if part == top:
            return
        if os.path.islink(part):
            raise UsageError(
                f"{part} is a link to {os.path.realpath(part)}, and an upgrade would write there",
                "put the file itself in its place",
            )


def _text(path: Path) -> str | None:
    """Text of a file with its own ends of lines; None if there is none."""
    try:
        return read_bytes(path).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}", "is it a text file of yours?") from error
