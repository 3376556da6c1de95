"""Rules for public names: unique within a project, and no cycles in `uses`."""

from __future__ import annotations

from collections.abc import Iterator

from fictl.errors import UsageError
from fictl.project.check.problem import Problem
from fictl.project.discover import functions
from fictl.project.facade_stub import stub
from fictl.project.folder import OpFolder
from fictl.project.project import Project
from fictl.project.python_source import SourceError


def each_is_defined_once(project: Project) -> Iterator[Problem]:
    first: dict[str, OpFolder] = {}
    for folder, declaration in functions(project):
        known = first.setdefault(declaration.name, folder)
        if known != folder:
            yield Problem(
                "unique",
                folder.op,
                declaration.line,
                f"{declaration.name} is also in {known.op}",
                "rename one of them",
            )


def uses_have_no_cycle(project: Project) -> Iterator[Problem]:
    home = {declaration.name: folder for folder, declaration in functions(project)}
    shipped = {declaration.name for _, declaration in functions(Project.shipped())}
    graph: dict[OpFolder, set[OpFolder]] = {}
    for folder, declaration in functions(project):
        for name in declaration.uses:
            if name in home:
                graph.setdefault(folder, set()).add(home[name])
            elif name not in shipped:
                yield Problem(
                    "uses",
                    folder.op,
                    declaration.line,
                    f"{declaration.name} uses {name!r}: no op",
                    "uses= names public functions of this project or of fictl",
                )
    for folder in graph:
        path = _way_back(folder, graph)
        if path and folder == min(path, key=str):
            way = " -> ".join(step.module for step in (*path, folder))
            yield Problem(
                "uses",
                folder.op,
                1,
                f"ops use each other: {way}",
                "move what they share to include/ or to the family's _*.py",
            )


def _way_back(start: OpFolder, graph: dict[OpFolder, set[OpFolder]]) -> list[OpFolder]:
    """Return a cycle through `start`, which is listed once; empty if there is none."""
    pending, seen = [[start]], {start}
    while pending:
        path = pending.pop(0)
        for step in sorted(graph.get(path[-1], ()), key=str):
            # A module may call its own functions.
            if step == start and len(path) > 1:
                return path
            if step not in seen:
                seen.add(step)
                pending.append([*path, step])
    return []


def names_fit_one_stub(project: Project) -> Iterator[Problem]:
    """Check that the shipped ops fit into one stub, fictl/ops.pyi, which editors read."""
    if not project.is_shipped:
        return
    try:
        stub(project)
    except SourceError:
        raise
    except UsageError as error:
        yield Problem("stub", project.kernels, 1, error.message, error.hint)
