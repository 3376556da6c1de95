"""Finds ops by their files, `<family>/<module>/op.py`, without imports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from fictl.errors import UsageError
from fictl.project.declaration import Declaration
from fictl.project.folder import OpFolder
from fictl.project.op_files import op_file_of, op_files
from fictl.project.project import Project
from fictl.project.python_source import SourceError


def folders(project: Project) -> tuple[OpFolder, ...]:
    """Return all op folders of a project, sorted by family and module."""
    return tuple(_folder(project, path) for path in op_files(project))


def functions(project: Project) -> Iterator[tuple[OpFolder, Declaration]]:
    for folder in folders(project):
        for declaration in folder.declarations():
            yield folder, declaration


def find_function(name: str, project: Project) -> OpFolder | None:
    """Return the folder that declares `name`, or None; two are an error."""
    path = op_file_of(name, project)
    return _folder(project, path) if path else None


def find(name: str, projects: Sequence[Project] = ()) -> tuple[OpFolder, ...]:
    """Resolve an OP argument: a module, a public function, or a family with all its modules.

    `project/…` searches only that project; otherwise the first project with the name wins.
    """
    projects = projects or Project.all()
    head, _, rest = name.partition("/")
    if rest and head in {project.name for project in projects}:
        projects, name = [project for project in projects if project.name == head], rest
    for project in projects:
        matching = _find_in(project, name)
        if matching:
            return matching
    raise UsageError(f"there is no op {name!r}", _suggestion(name, projects))


def select(names: Iterable[str], projects: Sequence[Project] = ()) -> tuple[OpFolder, ...]:
    """Return the folders of all OP arguments, without duplicates; by default, all folders."""
    projects = projects or Project.all()
    named = [folder for name in names for folder in find(name, projects)]
    if named:
        return tuple(dict.fromkeys(named))
    return tuple(folder for project in projects for folder in folders(project))


def names(projects: Iterable[Project]) -> list[str]:
    """Return all unqualified names that `find` accepts; skips op.py files that do not parse."""
    known: set[str] = set()
    for folder in (folder for project in projects for folder in folders(project)):
        known |= {folder.module, folder.family}
        with suppress(SourceError):
            known |= {declaration.name for declaration in folder.declarations()}
    return sorted(known)


def _folder(project: Project, op: Path) -> OpFolder:
    return OpFolder(project, op.parts[-3], op.parts[-2])


def _find_in(project: Project, name: str) -> tuple[OpFolder, ...]:
    everything = folders(project)
    # First, so that a function defined twice is an error even if a module has its name.
    declaring = find_function(name, project) if name.isidentifier() else None
    modules = [f for f in everything if name in (f.module, f"{f.family}/{f.module}")]
    if modules:
        return tuple(modules)
    if declaring:
        return (declaring,)
    return tuple(folder for folder in everything if folder.family == name)


def _suggestion(name: str, projects: Iterable[Project]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name.rpartition("/")[2], names(projects), n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else "fictl list shows them all"
