"""Scope: which parts of a dataset are checked, and for what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fictl.errors import UsageError
from fictl.trace.dataset.chosen import is_chosen, require_known
from fictl.trace.dataset.files import DatasetFiles
from fictl.trace.documents.definition import Definition
from fictl.trace.documents.solution import Solution

USUAL = ("layout", "definition", "workload", "solution", "trace")
CHECKS = (*USUAL, "baseline", "benchmark")


@dataclass(frozen=True)
class KnownSolution:
    """Data that the checks keep of a solution, without its sources."""

    definition: str
    author: str
    digest: str
    path: Path

    @classmethod
    def of(cls, solution: Solution, path: Path) -> KnownSolution:
        return cls(solution.definition, solution.author, solution.hash(), path)


@dataclass
class Scope:
    """Empty `op_types` and `names` stand for all. The other fields collect what was read."""

    files: DatasetFiles
    checks: Sequence[str] = USUAL
    op_types: Sequence[str] = ()
    names: Sequence[str] = ()
    definitions: dict[str, tuple[Definition, Path]] = field(default_factory=dict)
    solutions: dict[str, KnownSolution] = field(default_factory=dict)
    # Unreadable definitions: files that refer to them are not reported.
    unreadable: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        if unknown := [check for check in self.checks if check not in CHECKS]:
            raise UsageError(
                f"there is no check {', '.join(unknown)}", f"one of {', '.join(CHECKS)}"
            )

    def wants(self, check: str) -> bool:
        return check in self.checks

    def has(self, name: str) -> bool:
        """Tell whether a definition is in scope; without a known type, only if all types are."""
        definition = self.get(name)
        of_type = is_chosen(definition.op_type, self.op_types) if definition else not self.op_types
        return of_type and is_chosen(name, self.names)

    def has_file(self, path: Path) -> bool:
        """Tell whether an unreadable definition is in scope, by its place."""
        return is_chosen(path.parent.name, self.op_types) and is_chosen(path.stem, self.names)

    def require_known(self) -> None:
        """Refuse names that nothing in the dataset has, once it was read."""
        lines = [*self.files.workloads(), *self.files.traces()]
        solved = {solution.definition for solution in self.solutions.values()}
        of_files = {path.stem for path in lines}
        names = {*self.definitions, *self.unreadable, *solved, *of_files}
        require_known(self.names, names, "definition")
        folders = {path.parent.name for path in (*lines, *self.files.definitions())}
        types = {definition.op_type for definition, _ in self.definitions.values()}
        require_known(self.op_types, types | folders, "op type")

    def get(self, name: str) -> Definition | None:
        return self.definitions[name][0] if name in self.definitions else None
