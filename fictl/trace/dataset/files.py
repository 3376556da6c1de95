"""DatasetFiles: paths of a dataset, in the layouts of flashinfer-bench and SOL-ExecBench."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fictl.errors import UsageError
from fictl.paths import files_below, matching, real
from fictl.trace.dataset.file_names import file_name, stems
from fictl.trace.dataset.listing import Listing

# Files in each problem folder of SOL-ExecBench.
_SOL_DEFINITION, _SOL_WORKLOADS = "definition.json", "workload.jsonl"
_DEEPEST = 4
_SUFFIXES = {
    "definitions": ".json",
    "solutions": ".json",
    "workloads": ".jsonl",
    "traces": ".jsonl",
}


@dataclass(frozen=True)
class DatasetFiles:
    """Finds files without creating any, sorted, so that every machine has the same order."""

    root: Path

    @cached_property
    def is_sol(self) -> bool:
        return not os.path.isdir(self.root / "definitions") and bool(self._problems())

    @cached_property
    def _listings(self) -> dict[str, Listing]:
        return {}

    def definitions(self) -> list[Path]:
        return self._problems() if self.is_sol else sorted(self._found("*.json", "definitions"))

    def solutions(self) -> list[Path]:
        ours = self._found("*.json", "solutions")
        if not self.is_sol:
            return sorted(ours)
        beside = (matching(path.parent, "solution*.json") for path in self.definitions())
        return sorted([*ours, *(path for paths in beside for path in paths)])

    def workloads(self, definition: str | None = None) -> list[Path]:
        """Files of workloads; in SOL-ExecBench's layout they are found by `beside`."""
        return self._lines("workloads", definition)

    def beside(self, definition: Path) -> Path:
        return definition.with_name(_SOL_WORKLOADS)

    def traces(self, definition: str | None = None) -> list[Path]:
        return self._lines("traces", definition)

    def others(self) -> Iterator[tuple[Path, str]]:
        """Files in a dataset's folders that no reader looks at, with the expected suffix."""
        for folder, suffix in _SUFFIXES.items():
            for path in sorted(self._found("*", folder)):
                if path.suffix != suffix and os.path.isfile(path):
                    yield path, suffix

    def definition(self, op_type: str, name: str) -> Path:
        return self.root / "definitions" / file_name(op_type) / f"{file_name(name)}.json"

    def solution(self, author: str, op_type: str, definition: str, name: str) -> Path:
        folders = map(file_name, (author, op_type, definition))
        return self.root.joinpath("solutions", *folders, f"{file_name(name)}.json")

    def workload(self, op_type: str, definition: str) -> Path:
        return self.root / "workloads" / file_name(op_type) / f"{file_name(definition)}.jsonl"

    def trace(self, author: str, op_type: str, definition: str) -> Path:
        folders = map(file_name, (author, op_type))
        return self.root.joinpath("traces", *folders, f"{file_name(definition)}.jsonl")

    def new_blob(self, op_type: str, definition: str, uuid: str) -> Path:
        """Path for the tensors of a workload."""
        folders = map(file_name, (op_type, definition))
        name = file_name(f"{definition}_{uuid}")
        return self.root.joinpath("blob", "workloads", *folders, f"{name}.safetensors")

    def blob(self, path: str) -> Path:
        """Resolve a path given by a workload; refuse links that lead out of the dataset."""
        full, root = real(self.root / path), real(self.root)
        if not full.is_relative_to(root):
            raise UsageError(
                f"{self.root / path} leads out of the dataset, to {full}",
                "copy the file in its place: a dataset holds what it needs",
            )
        if not os.path.isfile(full):
            raise UsageError(
                f"{self.root / path} is not there", "fetch the dataset's blobs (git lfs pull)"
            )
        return full

    def _lines(self, folder: str, definition: str | None) -> list[Path]:
        """Files of lines. With a definition, only files named after it."""
        if definition is None:
            return sorted(self._found("*.jsonl", folder))
        listing = self._listings.setdefault(folder, Listing(self.root / folder, ".jsonl"))
        return listing.with_stems(stems(definition))

    def _problems(self) -> list[Path]:
        """Definitions of SOL-ExecBench. The root may be any folder, so depth is limited."""
        depths = (f"{'*/' * depth}{_SOL_DEFINITION}" for depth in range(_DEEPEST))
        return sorted(path for pattern in depths for path in matching(self.root, pattern))

    def _found(self, pattern: str, folder: str = "") -> Iterator[Path]:
        return (
            path
            for path in files_below(self.root / folder)
            if path.match(pattern)
            and not any(part.startswith(".") for part in path.relative_to(self.root).parts)
        )
