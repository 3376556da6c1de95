"""DatasetFiles: where a dataset keeps what, in flashinfer-bench's layout and SOL-ExecBench's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fictl.errors import UsageError
from fictl.paths import resolved

# SOL-ExecBench has a folder a problem, with these in it.
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
    """Looking creates nothing. Files are sorted, so that every machine sees one order."""

    root: Path

    @cached_property
    def is_sol(self) -> bool:
        return not (self.root / "definitions").is_dir() and bool(self._problems())

    def definitions(self) -> list[Path]:
        return self._problems() if self.is_sol else sorted(self._found("*.json", "definitions"))

    def solutions(self) -> list[Path]:
        ours = self._found("*.json", "solutions")
        if not self.is_sol:
            return sorted(ours)
        beside = (path.parent.glob("solution*.json") for path in self.definitions())
        return sorted([*ours, *(path for paths in beside for path in paths)])

    def workloads(self, definition: str = "*") -> list[Path]:
        """Of SOL-ExecBench's layout, what stands beside a definition is asked of `beside`."""
        return sorted(self._found(f"{definition}.jsonl", "workloads"))

    def beside(self, definition: Path) -> Path:
        return definition.with_name(_SOL_WORKLOADS)

    def traces(self, definition: str = "*") -> list[Path]:
        return sorted(self._found(f"{definition}.jsonl", "traces"))

    def others(self) -> Iterator[tuple[Path, str]]:
        """Files that are none of a dataset's in its folders, with how those end."""
        for folder, suffix in _SUFFIXES.items():
            for path in sorted(self._found("*", folder)):
                if path.suffix != suffix and path.is_file():
                    yield path, suffix

    def definition(self, op_type: str, name: str) -> Path:
        return self.root / "definitions" / op_type / f"{name}.json"

    def solution(self, author: str, op_type: str, definition: str, name: str) -> Path:
        return self.root / "solutions" / author / op_type / definition / f"{name}.json"

    def workload(self, op_type: str, definition: str) -> Path:
        return self.root / "workloads" / op_type / f"{definition}.jsonl"

    def trace(self, author: str, op_type: str, definition: str) -> Path:
        return self.root / "traces" / author / op_type / f"{definition}.jsonl"

    def new_blob(self, op_type: str, definition: str, uuid: str) -> Path:
        """Where the tensors of a workload are to be kept."""
        folder = self.root / "blob" / "workloads" / op_type / definition
        return folder / f"{definition}_{uuid}.safetensors"

    def blob(self, path: str) -> Path:
        """A path that a workload says. Links that lead out of the dataset are refused."""
        full, root = resolved(self.root / path), resolved(self.root)
        if not full.is_relative_to(root):
            raise UsageError(
                f"{self.root / path} leads out of the dataset, to {full}",
                "copy the file in its place: a dataset holds what it needs",
            )
        if not full.is_file():
            raise UsageError(
                f"{self.root / path} is not there", "fetch the dataset's blobs (git lfs pull)"
            )
        return full

    def _problems(self) -> list[Path]:
        """Of SOL-ExecBench. The root may be any folder: its depths are not searched."""
        depths = (f"{'*/' * depth}{_SOL_DEFINITION}" for depth in range(_DEEPEST))
        return sorted(path for pattern in depths for path in self.root.glob(pattern))

    def _found(self, pattern: str, folder: str = "") -> Iterator[Path]:
        return (
            path
            for path in (self.root / folder).rglob(pattern)
            if not any(part.startswith(".") for part in path.relative_to(self.root).parts)
        )
