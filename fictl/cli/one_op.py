"""Parts of commands about one op: finding it, and listing its files in few lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fictl.errors import UsageError

if TYPE_CHECKING:
    from fictl.project import OpFolder, Project
    from fictl.scaffold.plan.plan import Plan


def own_names(incomplete: str) -> list[str]:
    """Shell completion."""
    from fictl.project import Project, folders

    modules = (folder.module for folder in folders(Project.at()))
    return [name for name in modules if name.startswith(incomplete)]


OwnOp = Annotated[
    str,
    typer.Argument(
        metavar="OP",
        help="An op of the project here.",
        autocompletion=own_names,
        show_default=False,
    ),
]


def own_project() -> Project:
    """The one here; fictl's own, which is everywhere, only in a checkout of it."""
    from fictl.project import Project

    project, here = Project.at(), Path.cwd()
    if project.is_shipped and project.top not in (here, *here.parents):
        raise UsageError(
            f"there is no project in or above {here}",
            "go to one, or make one: fictl init here, fictl init my_kernels in a folder of its own",
        )
    return project


def own_op(name: str) -> OpFolder:
    return one_op(name, [own_project()])


def one_op(name: str, projects: Iterable[Project] = ()) -> OpFolder:
    """Find an op by its folder's name or a function's; a family is refused, whatever is in it."""
    from fictl.project import find

    op_folders = find(name, tuple(projects))
    last = name.rpartition("/")[2]
    if len(op_folders) > 1 or not (
        last == op_folders[0].module or _has_function(op_folders[0], last)
    ):
        raise UsageError(
            f"{name!r} is not a single op: {', '.join(map(str, op_folders))}", "name one of them"
        )
    return op_folders[0]


def _has_function(folder: OpFolder, name: str) -> bool:
    return any(declaration.name == name for declaration in folder.declarations())


def lines_by_folder(plan: Plan, paths: Iterable[Path]) -> Iterator[str]:
    """`kernels/norm/rmsnorm/  launcher.cu op.py`."""
    shown = [plan.shown(path) for path in paths]
    for folder in dict.fromkeys(name.rpartition("/")[0] for name in shown):
        names = [name.rpartition("/")[2] for name in shown if name.rpartition("/")[0] == folder]
        yield f"  {folder}/  {' '.join(names)}" if folder else f"  {' '.join(names)}"
