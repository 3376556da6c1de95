"""Files of one project as files of another: where they go, and what they call themselves there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fictl.errors import UsageError
from fictl.project import OpFolder, Project
from fictl.scaffold.existing.import_order import sort_imports


@dataclass(frozen=True)
class Transplant:
    """`files` go to `target`, a project named `name` with the usual folders."""

    source: Project
    target: Path
    name: str
    ops: tuple[OpFolder, ...]
    files: tuple[Path, ...]

    def place(self, path: Path) -> Path:
        source = self.source
        for above, below in (
            (source.include / source.name, f"kernels/include/{self.name}"),
            (source.kernels, "kernels"),
            (source.tests, "tests/kernels"),
        ):
            if path.is_relative_to(above):
                return self.target / below / path.relative_to(above)
        raise UsageError(f"{path} is not in a folder of {source.name}", "move it into kernels/")

    def text(self, path: Path, text: str) -> str:
        if self.name == self.source.name:
            return text
        if path.suffix == ".py":
            return sort_imports(self._python(path, text), self.name)
        return self._cpp(path, text)

    def _cpp(self, path: Path, text: str) -> str:
        project = self.source
        for header in self._headers:
            text = text.replace(f"{project.name}/{header}", f"{self.name}/{header}")
        for family in self._families:
            text = re.sub(rf"\b{project.name}::{family}\b", f"{self.name}::{family}", text)
        if project.is_shipped:
            # From outside of fictl, its names have to be asked for.
            is_header = path.is_relative_to(project.include)
            asked = "namespace device = fictl::device;" if is_header else "using namespace fictl;"
            opening = rf"^(namespace {self.name}::[\w:]+ \{{\n)(\n?)"
            text = re.sub(opening, rf"\1\2{asked}\n\2", text, count=1, flags=re.MULTILINE)
            # A namespace of one declaration is closed without its name.
            closing = rf"(^namespace ({self.name}::[\w:]+) \{{\n[^{{}}]*\}})$"
            text = re.sub(closing, r"\1  // namespace \2", text, count=1, flags=re.MULTILINE)
        return text

    def _python(self, path: Path, text: str) -> str:
        package = re.escape(self.source.package)
        for op in self.ops:
            here = f"{op.family}.{op.module}"
            text = re.sub(rf"\b{package}\.{re.escape(here)}\b", f"{self.name}.{here}", text)
        if path.is_relative_to(self.source.tests):
            facade = "fictl" if self.source.is_shipped else self.source.package
            return re.sub(rf"\b{re.escape(facade)}\.ops\b", f"{self.name}.ops", text)
        if self.source.is_shipped:
            family = path.relative_to(self.source.kernels).parts[0]
            text = re.sub(r"\bfrom \.\.\.(?=\w)", f"from {self.source.package}.", text)
            text = re.sub(r"\bfrom \.\.(?=[a-z])", f"from {self.source.package}.{family}.", text)
        return text

    @cached_property
    def _headers(self) -> tuple[str, ...]:
        """Relative to the include prefix."""
        above = self.source.include / self.source.name
        paths = (path for path in self.files if path.is_relative_to(above))
        return tuple(path.relative_to(above).as_posix() for path in paths)

    @property
    def _families(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(op.family for op in self.ops))
