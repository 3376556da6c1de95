"""The files an exported op depends on: what its Python imports and its C++ includes."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fictl.paths import real
from fictl.project import OpFolder
from fictl.project.cpp_source import reach
from fictl.project.python_source import parse
from fictl.scaffold.existing.belongings import own_files

_CPP = (".cu", ".cpp", ".cuh", ".h", ".jinja")


@dataclass(frozen=True)
class Bundle:
    """Files of one op and its dependencies. For a user's op, fictl's own files are left out, as
    fictl is installed. An op of fictl itself takes all of them, so that edits in a copy take
    effect.
    """

    folder: OpFolder

    @cached_property
    def files(self) -> tuple[Path, ...]:
        python = self._python
        folders = {path.parent for path in python if self._is_op(path.parent)}
        own = [path for folder in sorted(folders) for path in self._of_folder(folder)]
        sources = [path for path in own if path.suffix in _CPP]
        project = self.folder.project
        kernels = real(project.kernels)
        headers = (source.path for source in reach(sources, project.include_dirs))
        there = [path for path in headers if path.is_relative_to(kernels)]
        return tuple(dict.fromkeys((*own, *python, *there)))

    @cached_property
    def _python(self) -> tuple[Path, ...]:
        pending = [self.folder.op, self.folder.trace]
        for path in pending:
            beside = self._of_folder(path.parent) if self._is_op(path.parent) else ()
            imported = (
                *self._imported(path),
                *(candidate for candidate in beside if candidate.suffix == ".py"),
            )
            pending += [
                candidate for candidate in dict.fromkeys(imported) if candidate not in pending
            ]
        return tuple(path for path in pending if path.is_relative_to(self.folder.project.kernels))

    def _is_op(self, folder: Path) -> bool:
        return folder.parent.parent == self.folder.project.kernels and os.path.isfile(
            folder / "op.py"
        )

    def _of_folder(self, folder: Path) -> Iterator[Path]:
        """Files of an op's folder, without benchmarks and tests."""
        op = OpFolder(self.folder.project, folder.parent.name, folder.name)
        yield from (path for path in own_files(op) if path not in (op.bench, *op.tests))

    def _imported(self, path: Path) -> Iterator[Path]:
        """Files of the project that the module imports."""
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.ImportFrom) and (place := self._place(node, path)):
                names = (place / alias.name for alias in node.names)
                candidates = (candidate.with_suffix(".py") for candidate in (place, *names))
                yield from (candidate for candidate in candidates if os.path.isfile(candidate))

    def _place(self, node: ast.ImportFrom, path: Path) -> Path | None:
        """Path of a module, which may be named relative to the project's package."""
        module, package = node.module or "", f"{self.folder.project.package}."
        if node.level:
            return path.parents[node.level - 1].joinpath(*module.split("."))
        if module.startswith(package):
            return self.folder.project.kernels.joinpath(*module.removeprefix(package).split("."))
        return None


def standalone(path: Path, text: str, folder: OpFolder) -> str:
    """Adapt source text to a solution, whose package has another name: imports become relative."""
    if path.suffix != ".py":
        return text
    project = folder.project
    dots = "." * len(path.relative_to(real(project.kernels)).parts)
    package = re.escape(project.package)
    return re.sub(rf"^(\s*from ){package}\.(?=\w+\.)", rf"\g<1>{dots}", text, flags=re.MULTILINE)
