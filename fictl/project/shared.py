"""Names that a family offers beside its ops: the `__all__` of `<family>/_*.py`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from fictl.paths import matching
from fictl.project.project import Project
from fictl.project.python_source import assigned, parse


def shared(project: Project) -> Iterator[tuple[str, str, str]]:
    """(family, module to import, name) of each; nothing is imported."""
    for path, place in _files(project):
        for name in _literal(path, "__all__"):
            yield path.parent.name, place, name


def offered(project: Project, package: str) -> dict[str, str]:
    """Name -> module to import of what families offer in a package of fictl, too.

    A file says so of all names in its `__all__`: `OFFERED_IN = ("fictl.jit",)`.
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
