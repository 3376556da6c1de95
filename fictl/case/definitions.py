"""Benchmark definitions of a project's ops, generated from their cases, stored beside its tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from fictl.case.outputs import case_sizes
from fictl.errors import UsageError
from fictl.op.declared import Op, declaration
from fictl.project import OpFolder
from fictl.trace import Case, TraceTemplate
from fictl.trace.describe import definition
from fictl.trace.extract import case_dtypes
from fictl.trace.traced_call import save

if TYPE_CHECKING:
    from fictl.trace import Definition


@dataclass(frozen=True)
class Traced:
    """A public function with its template and its cases."""

    folder: OpFolder
    name: str

    @cached_property
    def op(self) -> Op:
        return declaration(getattr(self.folder.load("op"), self.name))

    @property
    def template(self) -> TraceTemplate:
        return self.op.template

    @cached_property
    def cases(self) -> list[Case]:
        return [c for c in self.folder.cases() if c.function == self.name]

    @property
    def place(self) -> Path:
        """Return the path `tests/trace/definitions/<function>` in its project."""
        tests = self.folder.project.tests
        root = tests.parent if tests.name == "kernels" else tests
        return root / "trace" / "definitions" / self.name

    def definitions(self) -> dict[str, Definition]:
        """Return definitions by name, one for each set of constant sizes, dtypes and optional
        inputs.
        """
        definitions: dict[str, Definition] = {}
        for case in self.cases:
            own = self.definition(case)
            if definitions.setdefault(own.name, own) != own:
                raise UsageError(
                    f"two definitions of {self.op.api} are named {own.name}",
                    "give its Const axes abbreviations that tell them apart",
                )
        return definitions

    def definition(self, case: Case) -> Definition:
        template = self.template
        dtypes = case_dtypes(template, case.dtype, case.passing)
        return definition(template, self.op.api, case_sizes(template, case), dtypes)


def traced(folders: Sequence[OpFolder]) -> Iterator[Traced]:
    """Yield every public function of these folders."""
    for folder in folders:
        for declared in folder.declarations():
            yield Traced(folder, declared.name)


def export(every: Iterable[Traced], folder: Path, dry_run: bool = False) -> list[Path]:
    """Write `<folder>/<op_type>/<name>.json` for every definition, and return the paths.

    Raise if two ops have different definitions under one name.
    """
    by_path: dict[Path, Definition] = {}
    for function in every:
        for name, one in function.definitions().items():
            path = folder / one.op_type / f"{name}.json"
            if by_path.setdefault(path, one) != one:
                raise UsageError(
                    f"{by_path[path].api} and {one.api} both make {path.name}",
                    "export one of them",
                )
    for path, one in by_path.items() if not dry_run else ():
        save(one, path.parent)
    return [*by_path]
