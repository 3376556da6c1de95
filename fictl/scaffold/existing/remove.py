"""A plan by which an op is no more: exactly its files, and only while nobody needs it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fictl.errors import UsageError
from fictl.paths import real
from fictl.project import OpFolder, folders
from fictl.project.cpp_source import reach
from fictl.project.python_source import SourceError
from fictl.scaffold.existing.belongings import other_files, own_files
from fictl.scaffold.existing.definition_files import definition_files
from fictl.scaffold.plan.plan import Plan


def plan_remove(folder: OpFolder, everything: bool = False) -> Plan:
    """Nothing is deleted. `everything` takes files along of which nobody knows what they are."""
    names = _functions(folder)
    _refuse_while_used(folder, names)
    others = other_files(folder)
    if others and not everything:
        raise UsageError(
            f"{folder} has files that do not belong to an op: {_listed(folder, others)}",
            "move them away, or --force deletes them too",
        )
    files = (*own_files(folder), *definition_files(folder.project, sorted(names)), *others)
    return Plan(folder.project.top, dict.fromkeys(files))


def _functions(folder: OpFolder) -> set[str]:
    """Names of its functions; none if op.py cannot be read, which may be why it is removed."""
    try:
        return {declaration.name for declaration in folder.declarations()}
    except SourceError:
        return {folder.module}


def _refuse_while_used(folder: OpFolder, names: set[str]) -> None:
    """Refuse while another op of the project names it in `uses=`, or includes its header."""
    users = [
        other
        for other in folders(folder.project)
        if other != folder and (_uses(other, names) or _includes(other, folder))
    ]
    if users:
        raise UsageError(
            f"{folder} is used by {', '.join(map(str, users))}",
            "remove them first, or let go of it in their uses= and #include",
        )


def _uses(folder: OpFolder, names: set[str]) -> bool:
    return any(names & {*declaration.uses} for declaration in folder.declarations())


def _includes(folder: OpFolder, used: OpFolder) -> bool:
    headers = {real(path) for path in used.headers}
    sources = (*folder.headers, *folder.launchers)
    return any(source.path in headers for source in reach(sources, folder.project.include_dirs))


def _listed(folder: OpFolder, paths: Iterable[Path]) -> str:
    return ", ".join(path.relative_to(folder.path).as_posix() for path in paths)
