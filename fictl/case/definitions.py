"""The definitions of a project's ops, made of their cases and kept beside its tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

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
        """`tests/trace/definitions/<function>` of its project."""
        tests = self.folder.project.tests
        root = tests.parent if tests.name == "kernels" else tests
        return root / "trace" / "definitions" / self.name

    def definitions(self) -> dict[str, Definition]:
        """By name: one for each set of constant sizes, dtypes and optional inputs of its cases."""
        found: dict[str, Definition] = {}
        for case in self.cases:
            made = self.definition(case)
            if found.setdefault(made.name, made) != made:
                raise UsageError(
                    f"two definitions of {self.op.api} are named {made.name}",
                    "give its Const axes abbreviations that tell them apart",
                )
        return found

    def definition(self, case: Case) -> Definition:
        template = self.template
        sizes = template.check_sizes(case.sizes, absent=template.optional_axes(case.passing))
        return definition(
            template, self.op.api, sizes, case_dtypes(template, case.dtype, case.passing)
        )


def traced(folders: Sequence[OpFolder]) -> Iterator[Traced]:
    """Every public function of them."""
    for folder in folders:
        for declared in folder.declarations():
            yield Traced(folder, declared.name)


def export(every: Iterable[Traced], folder: Path, dry_run: bool = False) -> list[Path]:
    """As `<folder>/<op_type>/<name>.json`; two ops that make different ones of a name are refused."""
    made: dict[Path, Definition] = {}
    for each in every:
        for name, one in each.definitions().items():
            path = folder / one.op_type / f"{name}.json"
            if made.setdefault(path, one) != one:
                raise UsageError(
                    f"{made[path].api} and {one.api} both make {path.name}", "export one of them"
                )
    for path, one in made.items() if not dry_run else ():
        save(one, path.parent)
    return [*made]
