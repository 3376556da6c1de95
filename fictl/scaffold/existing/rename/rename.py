"""A plan by which an op, all that is its and all that uses it have another name."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from fictl.errors import UsageError
from fictl.paths import files_below
from fictl.project import OpFolder, folders, names
from fictl.project.python_source import parse
from fictl.scaffold import record
from fictl.scaffold.existing.belongings import other_files, own_files, text_of
from fictl.scaffold.existing.import_order import sort_imports
from fictl.scaffold.existing.keep_formatted import keep_formatted
from fictl.scaffold.existing.rename.cpp_text import SUFFIXES, CppNames
from fictl.scaffold.existing.rename.definitions import renamed_definitions
from fictl.scaffold.existing.rename.mentions import Mention, mentions
from fictl.scaffold.existing.rename.move import Move
from fictl.scaffold.existing.rename.python_text import PythonNames
from fictl.scaffold.existing.rename.record import renamed_record
from fictl.scaffold.existing.rename.renaming import Renaming
from fictl.scaffold.existing.rename.shared import includes, refuse_shared
from fictl.scaffold.new.names import check_family, check_op
from fictl.user_file import read_text


@dataclass(frozen=True)
class Renamed:
    """A planned rename: the files to write, and the lines that name the op and stay unchanged."""

    folder: OpFolder
    plan: Move
    left_alone: tuple[Mention, ...]


def plan_rename(folder: OpFolder, name: str, family: str = "") -> Renamed:
    """Nothing is written. `name` is the old one where only the family changes."""
    renaming = Renaming(folder, _target(folder, name, family))
    files = tuple(p for p in (*own_files(folder), *other_files(folder)) if p.name != record.FILE)
    others = {path: text for path, text in _sources(folder) if path not in files}
    if renaming.moves_family:
        refuse_shared(renaming, files, others)
    cpp, python = _names(renaming, files)
    moved = {_place(path, renaming): path for path in files}
    changed = {place: _renamed(path, cpp, python) for place, path in moved.items()}
    changed.update(_users(others, cpp, python))
    texts: dict[Path, str | None] = dict.fromkeys(files)
    texts.update(keep_formatted(changed, {path: moved.get(path, path) for path in changed}))
    texts.update(renamed_definitions(renaming))
    kept = renamed_record(
        renaming,
        lambda path: _place(path, renaming),
        lambda path, text: _renamed_text(path, text, cpp, python),
    )
    texts.update(kept)
    left = mentions(
        folder.project,
        (renaming.old, *renaming.public),
        texts,
        lambda text: python.is_used_by(text) or includes(text, folder),
    )
    plan = Move(folder.project.top, texts, origins=moved)
    return Renamed(renaming.after, plan, tuple(left))


def _target(folder: OpFolder, name: str, family: str) -> OpFolder:
    target = replace(folder, module=name, family=check_family(family or folder.family))
    if target == folder:
        raise UsageError(
            f"{folder} has that name already", "fictl rename-op OLD NEW, or --family F"
        )
    if name != folder.module:
        own = {folder.module, *(declaration.name for declaration in folder.declarations())}
        families = {other.family for other in folders(folder.project)}
        check_op(name, [known for known in names([folder.project]) if known not in own | families])
    for path in (target.path, target.header, target.test):
        if os.path.exists(path):
            raise UsageError(f"{path} is there already", "move it away, or take another name")
    return target


def _place(path: Path, renaming: Renaming) -> Path:
    """New path of a file of the op."""
    before, after = renaming.before, renaming.after
    if path.is_relative_to(before.path):
        *folders_, name = path.relative_to(before.path).parts
        return after.path.joinpath(*folders_, _respelled(name, renaming))
    home = after.test.parent if path.parent == before.test.parent else after.header.parent
    return home / _respelled(path.name, renaming)


def _respelled(name: str, renaming: Renaming) -> str:
    stem, dot, suffix = name.partition(".")
    return renaming.respell(stem) + dot + suffix


def _renamed(path: Path, cpp: CppNames, python: PythonNames) -> str:
    if path.suffix == ".py":
        parse(path)
    return _renamed_text(path, text_of(path), cpp, python)


def _renamed_text(path: Path, text: str, cpp: CppNames, python: PythonNames) -> str:
    if path.suffix == ".py":
        return sort_imports(python.rename(text), cpp.renaming.new)
    return cpp.rename(text)


def _sources(folder: OpFolder) -> Iterator[tuple[Path, str]]:
    """The project's other code, in which the op may be used."""
    project = folder.project
    for root in dict.fromkeys((project.kernels, project.tests)):
        for path in files_below(root):
            if path.suffix in (".py", *SUFFIXES) and os.path.isfile(path):
                yield path, read_text(path, errors="replace")


def _users(
    others: dict[Path, str], cpp: CppNames, python: PythonNames
) -> Iterator[tuple[Path, str]]:
    for path, text in others.items():
        if path.suffix == ".py":
            if python.is_used_by(text):
                parse(path)
                yield path, sort_imports(python.rename_outside(text), python.renaming.new)
        elif includes(text, cpp.renaming.before):
            yield path, cpp.rename_outside(text)


def _names(renaming: Renaming, files: Collection[Path]) -> tuple[CppNames, PythonNames]:
    """An error where a new name is taken within the op."""
    cpp = CppNames(renaming, tuple(path for path in files if path.suffix in SUFFIXES))
    own = tuple(path for path in files if path.suffix == ".py")
    python = PythonNames(renaming, own, frozenset(cpp.changing))
    clashes = sorted(cpp.clashes() | python.clashes())
    if clashes:
        raise UsageError(
            f"{renaming.new!r} would take a name that the op's files use for something else: "
            + ", ".join(clashes),
            "take another name, or rename that first",
        )
    return cpp, python
