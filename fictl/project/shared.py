"""Names that a family exports besides its ops: the `__all__` of `<family>/_*.py`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from fictl.paths import matching
from fictl.project.project import Project
from fictl.project.python_source import assigned, parse


def shared(project: Project) -> Iterator[tuple[str, str, str]]:
    """Yield (family, module to import, name) for each name, without imports."""
    for path, place in _files(project):
        for name in _literal(path, "__all__"):
            yield path.parent.name, place, name


def offered(project: Project, package: str) -> dict[str, str]:
    """Map names that families also export in a package of fictl to the module to import.

    A file declares this for all names of its `__all__` by `OFFERED_IN = ("fictl.jit",)`.
    """
    return {
        name: place
        for path, place in _files(project)
        if package in _literal(path, "OFFERED_IN")
        for name in _literal(path, "__all__")
    }


def _files(project: Project) -> Iterator[tuple[Path, str]]:
    for path in matching(project.kernels, "[!._]*/_*.py"):
        yield path, f"{project.package}.{path.parent.name}.{path.stem}"


def _literal(path: Path, variable: str) -> tuple[str, ...]:
    value = assigned(parse(path), variable)
    with suppress(ValueError):
        return tuple(ast.literal_eval(value)) if value else ()
    return ()
