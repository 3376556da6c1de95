"""A dataset folder of ops: what goes where, and writing it so that once more changes nothing."""

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
    """What was, or would be, written."""

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
    """Of these functions to a folder. `most` leaves out cases of more elements; 0 leaves out none."""

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
            counts["files"] += sum(each.is_in_file for each in cases)
            counts["solutions"] += len(definitions) * self.solutions
            if not dry_run:
                self._write(traced, definitions, cases)
        return Exported(self.root, **counts, written=not dry_run)

    def _definitions_of(self, cases: Iterable[CaseWorkload]) -> dict[str, Definition]:
        """By name; two that differ are of two ops, or of a trace that does not tell them apart."""
        found = {}
        for made in (case.definition for case in cases):
            known = self._known.setdefault(made.name, made)
            if known != made:
                raise UsageError(
                    f"{known.api} and {made.api} both make {made.name}",
                    "export one of them, or give their Const axes abbreviations that differ",
                )
            found[made.name] = made
        return found

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
    """A file that is there is the same: its name has its case's digest."""
    if not case.is_in_file or os.path.isfile(path):
        return
    from safetensors.torch import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_name(f".{path.name}.{os.getpid()}")
    save_file(case.tensors, whole)
    whole.replace(path)
