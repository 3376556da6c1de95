"""OpFolder: the paths of one module's files, among headers, op folders and tests."""

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
    """A module: functions that share a kernel template, and all their files."""

    project: Project
    family: str
    module: str

    @classmethod
    def of(cls, path: str | Path) -> OpFolder:
        """Return the op folder that contains the file `path`."""
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
        """Name of the module in the build cache, unique within the project."""
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
        """Reason why the folder needs a jit.py; "" if the default module is sufficient."""
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
    def tests(self) -> tuple[Path, ...]:
        """`test`, and all `test_<module>_*.py` beside it, as far as they exist."""
        beside = matching(self.test.parent, f"test_{self.module}_*.py")
        return tuple(p for p in (self.test, *beside) if os.path.isfile(p) and self.is_test(p))

    def is_test(self, path: Path) -> bool:
        """True for a file of its tests: of the ops whose names begin the file's, the longest has it."""
        if path.parent != self.test.parent:
            return False
        modules = [self.module, *(op.parent.name for op in matching(self.path.parent, "*/op.py"))]
        named = [name for name in modules if f"{path.stem}_".startswith(f"test_{name}_")]
        return max(named, key=len, default="") == self.module

    @property
    def header(self) -> Path:
        return self.project.include / self.project.name / self.family / f"{self.module}.cuh"

    @property
    def triton(self) -> Path:
        """Path of the kernels in Triton or CuTe DSL, if any; an op with this file needs no header."""
        return self.path / "kernel.py"

    @property
    def headers(self) -> tuple[Path, ...]:
        """The common header, and those of single backends, as far as they exist."""
        variants = (f"{self.module}_{backend}.cuh" for backend in self.backends())
        wanted = (self.header, *(self.header.with_name(name) for name in variants))
        return tuple(path for path in wanted if os.path.isfile(path))

    @property
    def launchers(self) -> tuple[Path, ...]:
        return tuple(matching(self.path, "launcher*.cu"))

    @property
    def is_composed(self) -> bool:
        """True if the module only calls other ops: no kernel, nothing to build."""
        own = (self.header, self.triton, self.binding, self.jit, *self.launchers)
        declared = self.declarations()
        return bool(declared) and all(e.uses for e in declared) and not any(map(Path.is_file, own))

    def backends(self) -> tuple[str, ...]:
        """Return backends, such as `sm90` of launcher_sm90.cu; empty if one launcher is for all."""
        names = (path.stem.removeprefix("launcher") for path in self.launchers)
        return tuple(name.removeprefix("_") for name in names if name)

    def declarations(self) -> tuple[Declaration, ...]:
        return read_declarations(self.op)

    @property
    def archs(self) -> ArchRule:
        return ArchRule.any_of([declaration.archs for declaration in self.declarations()])

    def archs_of(self, backend: str) -> ArchRule:
        """Return the architectures of one backend; those of the op if it declares none."""
        own = [
            declaration.backends[backend]
            for declaration in self.declarations()
            if backend in declaration.backends
        ]
        return ArchRule.any_of(own) if own else self.archs

    @property
    def devices(self) -> tuple[str, ...]:
        """Devices that at least one of its functions runs on."""
        return tuple(
            dict.fromkeys(d for declaration in self.declarations() for d in declaration.devices)
        )

    def files(self) -> Iterator[tuple[str, Path]]:
        """Yield existing files as (role, path), in reading order."""
        kernels = (*self.headers, self.triton)
        yield from (("kernel", path) for path in kernels if os.path.isfile(path))
        yield from (("launcher", path) for path in self.launchers)
        named = (self.binding, self.jit, self.op, self.trace, self.bench)
        roles = [(path.stem, path) for path in (*named, self.path / "config.jinja")]
        yield from ((role, path) for role, path in roles if os.path.isfile(path))
        yield from (("test", path) for path in self.tests)

    def family_files(self) -> Iterator[Path]:
        """Yield the Python files that the family shares: `_*.py` and those of private folders."""
        for pattern in ("_*.py", "_*/*.py"):
            yield from matching(self.path.parent, pattern)

    def load(self, part: str) -> ModuleType:
        """Import `op`, `jit`, `trace` or `bench` of the module, whether installed or not."""
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
        """Return the list of cases that `cases()` of bench.py yields."""
        bench = self.load("bench")
        with yielded(self.bench, "cases", "Case") as listed:
            return listed(bench.cases())

    def __str__(self) -> str:
        return f"{self.project.name}/{self.family}/{self.module}"
