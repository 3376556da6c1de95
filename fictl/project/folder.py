"""OpFolder: where each file of one module lies, in the library, beside it and in the tests."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from fictl.arch import ArchRule
from fictl.errors import UsageError
from fictl.paths import matching, real
from fictl.project.declaration import Declaration, read_declarations
from fictl.project.project import Project
from fictl.project.python_source import parse, running, yielded


@dataclass(frozen=True)
class OpFolder:
    """A module: the functions that share a kernel template, and everything that belongs to them."""

    project: Project
    family: str
    module: str

    @classmethod
    def of(cls, path: str | Path) -> OpFolder:
        """The one that the file `path` belongs to."""
        folder = real(Path(path)).parent
        project = Project.at(folder)
        if folder.parent.parent != project.kernels:
            raise UsageError(
                f"{path} is not in an op folder of {project.name}",
                f"op folders are {project.kernels}/<family>/<module>",
            )
        return cls(project, folder.parent.name, folder.name)

    @property
    def key(self) -> str:
        """Its name in the build cache, unique within the project."""
        return f"{self.family}.{self.module}"

    @property
    def path(self) -> Path:
        return self.project.kernels / self.family / self.module

    @property
    def package(self) -> str:
        return f"{self.project.package}.{self.family}.{self.module}"

    @property
    def op(self) -> Path:
        return self.path / "op.py"

    @property
    def jit(self) -> Path:
        return self.path / "jit.py"

    @property
    def needs_jit(self) -> str:
        """The reason why the default module cannot stand for its jit.py; "" where it can."""
        if os.path.isfile(self.path / "config.jinja"):
            return "config.jinja has parameters"
        if self.launchers and not os.path.isfile(self.path / "launcher.cu"):
            return "each backend has a launcher"
        imports = (node for node in ast.walk(parse(self.op)) if isinstance(node, ast.ImportFrom))
        if any(node.level == 1 and node.module == "jit" for node in imports):
            return "op.py imports it"
        return ""

    @property
    def trace(self) -> Path:
        return self.path / "trace.py"

    @property
    def bench(self) -> Path:
        return self.path / "bench.py"

    @property
    def binding(self) -> Path:
        return self.path / "binding.cpp"

    @property
    def test(self) -> Path:
        return self.project.tests / self.family / f"test_{self.module}.py"

    @property
    def header(self) -> Path:
        return self.project.include / self.project.name / self.family / f"{self.module}.cuh"

    @property
    def triton(self) -> Path:
        """The file of its kernels if they are in Triton; then it needs no header."""
        return self.path / "kernel.py"

    @property
    def headers(self) -> tuple[Path, ...]:
        """The plain one, and one for each backend that has its own."""
        variants = (f"{self.module}_{backend}.cuh" for backend in self.backends())
        wanted = (self.header, *(self.header.with_name(name) for name in variants))
        return tuple(path for path in wanted if os.path.isfile(path))

    @property
    def launchers(self) -> tuple[Path, ...]:
        return tuple(matching(self.path, "launcher*.cu"))

    @property
    def is_composed(self) -> bool:
        """True if all of it is made of other ops: then it has no kernel, and nothing to build."""
        own = (self.header, self.triton, self.binding, self.jit, *self.launchers)
        declared = self.declarations()
        return bool(declared) and all(e.uses for e in declared) and not any(map(Path.is_file, own))

    def backends(self) -> tuple[str, ...]:
        """`sm90` of launcher_sm90.cu; none where one launcher serves every architecture."""
        names = (path.stem.removeprefix("launcher") for path in self.launchers)
        return tuple(name.removeprefix("_") for name in names if name)

    def declarations(self) -> tuple[Declaration, ...]:
        return read_declarations(self.op)

    @property
    def archs(self) -> ArchRule:
        return ArchRule.any_of([declaration.archs for declaration in self.declarations()])

    def archs_of(self, backend: str) -> ArchRule:
        """Those that one backend is written for; the op's where it declares none of that name."""
        own = [
            declaration.backends[backend]
            for declaration in self.declarations()
            if backend in declaration.backends
        ]
        return ArchRule.any_of(own) if own else self.archs

    @property
    def devices(self) -> tuple[str, ...]:
        """Those that one of its functions runs on."""
        return tuple(
            dict.fromkeys(d for declaration in self.declarations() for d in declaration.devices)
        )

    def files(self) -> Iterator[tuple[str, Path]]:
        """List its existing files as (role, path), in the order of reading."""
        kernels = (*self.headers, self.triton)
        yield from (("kernel", path) for path in kernels if os.path.isfile(path))
        yield from (("launcher", path) for path in self.launchers)
        named = (self.binding, self.jit, self.op, self.trace, self.bench)
        roles = [(path.stem, path) for path in (*named, self.path / "config.jinja")]
        yield from (
            (role, path) for role, path in [*roles, ("test", self.test)] if os.path.isfile(path)
        )

    def family_files(self) -> Iterator[Path]:
        """Find the Python that its family shares: `_*.py`, and what lies in private folders."""
        for pattern in ("_*.py", "_*/*.py"):
            yield from matching(self.path.parent, pattern)

    def load(self, part: str) -> ModuleType:
        """Import `op`, `jit`, `trace` or `bench` of it, installed or not."""
        from importlib import import_module

        from fictl.project.mount import mount

        mount(self.project)
        path = self.path / f"{part}.py"
        if not os.path.isfile(path):
            raise UsageError(
                f"{self} has no {path}", "fictl check names all that an op consists of"
            )
        with running(path):
            return import_module(f"{self.package}.{part}")

    def cases(self) -> list[Any]:
        """List what `cases()` of its bench.py yields."""
        bench = self.load("bench")
        with yielded(self.bench, "cases", "Case") as listed:
            return listed(bench.cases())

    def __str__(self) -> str:
        return f"{self.project.name}/{self.family}/{self.module}"
