"""Writes ops to a dataset folder; writing the same ops again changes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fictl.case.definitions import Traced
from fictl.dataset.export import AUTHOR
from fictl.dataset.export.solution import solution_of
from fictl.dataset.export.workloads import CaseWorkload, workloads_of
from fictl.errors import UsageError

if TYPE_CHECKING:
    from fictl.trace import Definition, TraceSet


@dataclass(frozen=True)
class Exported:
    """Paths that were written, or would be written."""

    root: Path
    definitions: int
    workloads: int
    files: int
    solutions: int
    written: bool = True

    def to_dict(self) -> dict[str, Any]:
        return {**self.__dict__, "root": str(self.root)}


@dataclass(frozen=True)
class Export:
    """Writes these functions to a folder. `most` leaves out cases with more elements; 0 means no
    limit.
    """

    root: Path
    every: tuple[Traced, ...]
    author: str = AUTHOR
    solutions: bool = True
    most: int = 0
    _known: dict[str, Definition] = field(default_factory=dict)

    def run(self, dry_run: bool = False) -> Exported:
        counts = {"definitions": 0, "workloads": 0, "files": 0, "solutions": 0}
        for traced in self.every:
            cases = [*workloads_of(traced, self.most)]
            definitions = self._definitions_of(cases)
            counts["definitions"] += len(definitions)
            counts["workloads"] += len(cases)
            counts["files"] += sum(case.is_in_file for case in cases)
            counts["solutions"] += len(definitions) * self.solutions
            if not dry_run:
                self._write(traced, definitions, cases)
        return Exported(self.root, **counts, written=not dry_run)

    def _definitions_of(self, cases: Iterable[CaseWorkload]) -> dict[str, Definition]:
        """Definitions by name; two different definitions with one name are an error."""
        definitions = {}
        for definition in (case.definition for case in cases):
            known = self._known.setdefault(definition.name, definition)
            if known != definition:
                raise UsageError(
                    f"{known.api} and {definition.api} both make {definition.name}",
                    "export one of them, or give their Const axes abbreviations that differ",
                )
            definitions[definition.name] = definition
        return definitions

    def _write(
        self, traced: Traced, definitions: Mapping[str, Definition], cases: Iterable[CaseWorkload]
    ) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        for definition in definitions.values():
            self._dataset.add_definition(definition)
            if self.solutions:
                self._dataset.add_solution(solution_of(traced, definition, self.author))
        by_definition: dict[str, list[CaseWorkload]] = {}
        for case in cases:
            _write_tensors(self.root / case.path, case)
            by_definition.setdefault(case.definition.name, []).append(case)
        for name, same in by_definition.items():
            self._dataset.add_workloads(name, [case.workload for case in same])

    @cached_property
    def _dataset(self) -> TraceSet:
        from fictl.trace import TraceSet

        return TraceSet.from_path(self.root)


def _write_tensors(path: Path, case: CaseWorkload) -> None:
    """Write the file unless it exists: its name contains a digest of its case."""
    if not case.is_in_file or os.path.isfile(path):
        return
    from safetensors.torch import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_name(f".{path.name}.{os.getpid()}")
    save_file(case.tensors, whole)
    whole.replace(path)
