"""A plan by which an op is a project of its own, with what of its project it cannot do without."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fictl.errors import UsageError
from fictl.paths import matching, real
from fictl.project import OpFolder, find
from fictl.project.config import OWN_FILE
from fictl.project.cpp_source import reach
from fictl.project.python_source import parse
from fictl.scaffold.existing.belongings import own_files, text_of
from fictl.scaffold.existing.keep_formatted import keep_formatted
from fictl.scaffold.existing.transplant import Transplant
from fictl.scaffold.new.names import check_project
from fictl.scaffold.plan.plan import Plan
from fictl.scaffold.record import FILE


def plan_export(folder: OpFolder, target: Path, name: str = "") -> Plan:
    """Nothing is written. The project keeps its name, so that includes and namespaces hold; what
    fictl ships gets another one, and goes on using fictl's building blocks.
    """
    target = real(target)
    if os.path.exists(target) and (not os.path.isdir(target) or any(target.iterdir())):
        raise UsageError(f"{target} is not an empty folder", "name one that is not there yet")
    project = folder.project
    name = name or (f"{folder.module}_kernels" if project.is_shipped else project.name)
    if project.is_shipped or name != project.name:
        check_project(name)
    luggage = OpBundle(folder)
    move = Transplant(project, target, name, luggage.ops, luggage.files)
    origins = {move.place(path): path for path in luggage.files}
    texts = {place: move.text(path, text_of(path)) for place, path in origins.items()}
    config = f'name = "{name}"\narchs = "{project.archs}"\n'
    if not project.is_shipped and name == project.name != project.package:
        config += f'package = "{project.package}"\n'
    return Plan(target, {target / OWN_FILE: config, **keep_formatted(texts, origins)})


@dataclass(frozen=True)
class OpBundle:
    """An op, and what comes along: the ops of its project that it uses, headers, shared Python."""

    folder: OpFolder

    @cached_property
    def ops(self) -> tuple[OpFolder, ...]:
        """Ops to copy: the op and those that it uses. Shipped ones are not copied: fictl is installed there."""
        ops = [self.folder]
        if self.folder.project.is_shipped:
            return tuple(ops)
        for item in ops:
            used = {name for declared in item.declarations() for name in declared.uses}
            for name in sorted(used - {declared.name for declared in item.declarations()}):
                ops += [op for op in _of_project(name, item) if op not in ops]
        return tuple(ops)

    @cached_property
    def files(self) -> tuple[Path, ...]:
        # Its record is of files in another project.
        own = [path for op in self.ops for path in own_files(op) if path.name != FILE]
        shared = [path for op in self.ops for path in _family_files(op)]
        tests = [path for op in self.ops for path in _conftests(op)]
        return tuple(dict.fromkeys((*own, *shared, *self._headers(), *tests)))

    def _headers(self) -> Iterator[Path]:
        """Those that another fictl does not have."""
        project = self.folder.project
        places = [project.kernels]
        if project.is_shipped:
            places = [project.include / project.name / op.family for op in self.ops]
        sources = [path for op in self.ops for path in (*op.launchers, *op.headers, op.binding)]
        there = (path for path in sources if os.path.isfile(path))
        for source in reach(there, project.include_dirs):
            if any(source.path.is_relative_to(real(place)) for place in places):
                yield source.path


def _of_project(name: str, user: OpFolder) -> tuple[OpFolder, ...]:
    """None for an op of fictl's."""
    folders = find(name, [user.project, user.project.shipped()])
    return tuple(op for op in folders if op.project == user.project)


def _family_files(op: OpFolder) -> Iterator[Path]:
    """The private Python of its family that it imports, and what that imports."""
    family = op.path.parent
    pending = [*matching(op.path, "*.py")]
    for path in pending:
        for shared in _imported(path, family):
            if shared not in pending and os.path.isfile(shared):
                pending.append(shared)
    yield from (path for path in pending if path.parent != op.path)


def _imported(path: Path, family: Path) -> Iterator[Path]:
    """The private files of the family that a file names in its relative imports."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.ImportFrom) and node.level:
            above = path.parents[node.level - 1]
            own = node.module.split(".") if node.module else []
            for names in (own, *([*own, alias.name] for alias in node.names)):
                shared = above.joinpath(*names).with_suffix(".py")
                if shared.is_relative_to(family) and shared.relative_to(family).parts[0][0] == "_":
                    yield shared


def _conftests(op: OpFolder) -> Iterator[Path]:
    """Its fixtures; ours are those of binding/, which stays here."""
    if not op.project.is_shipped:
        places = (op.project.tests, op.test.parent)
        yield from (path for place in places if os.path.isfile(path := place / "conftest.py"))
