"""TraceSet: a dataset of definitions, solutions, workloads and traces in a folder."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from fictl import settings
from fictl.errors import FictlError, MissingFile, UsageError
from fictl.paths import write_atomic
from fictl.trace.dataset.files import DatasetFiles
from fictl.trace.dataset.lines_file import append_lines
from fictl.trace.dataset.ranking import AuthorScore, TraceSetSummary, is_within, rank, speedup
from fictl.trace.dataset.record_lines import parse_trace, parse_workload
from fictl.trace.dataset.scores import Scores
from fictl.trace.dataset.speedup_metrics import BASELINE, SpeedupMetrics
from fictl.trace.documents.definition import Definition
from fictl.trace.documents.reading import lines_of
from fictl.trace.documents.record import Trace
from fictl.trace.documents.solution import Solution
from fictl.trace.documents.workload import Workload

_Named = TypeVar("_Named", Definition, Solution)


class TraceSet:
    """Reads definitions and solutions once, when they are first needed.

    Workloads and traces are read line by line, each time: a dataset may have millions.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = DatasetFiles(root)

    @classmethod
    def from_path(cls, path: str | Path | None = None) -> TraceSet:
        """Open an existing folder; nothing is created."""
        root = Path(path or settings.DATASET_PATH.get()).expanduser()
        if not os.path.isdir(root):
            raise MissingFile(
                f"{root} is not a folder",
                f"name a dataset, or set {settings.DATASET_PATH.name} to one",
            )
        return cls(root)

    @cached_property
    def definitions(self) -> dict[str, Definition]:
        """Definitions by name."""
        return {definition.name: definition for definition, _ in self._definitions.values()}

    @property
    def solutions(self) -> dict[str, list[Solution]]:
        """Solutions by definition."""
        by_definition: dict[str, list[Solution]] = {}
        for solution, _ in self._solutions.values():
            by_definition.setdefault(solution.definition, []).append(solution)
        return by_definition

    def get_solution(self, name: str) -> Solution | None:
        return self._solutions[name][0] if name in self._solutions else None

    def solution_file(self, name: str) -> Path | None:
        return self._solutions[name][1] if name in self._solutions else None

    def workloads(self, definition: str | None = None) -> Iterator[Trace]:
        """Yield workloads of one definition, or of all, in the order of the files."""
        for path, name in self._workload_files(definition):
            for number, line in lines_of(path):
                trace = parse_workload(line, path, number, name)
                if definition in (None, trace.definition):
                    yield trace

    def traces(self, definition: str | None = None) -> Iterator[Trace]:
        """Yield traces of one definition, from the files named after it, or of all."""
        for path in self.files.traces(definition):
            for number, line in lines_of(path):
                trace = parse_trace(line, path, number)
                if definition in (None, trace.definition):
                    yield trace

    def add_definition(self, definition: Definition) -> Path:
        """Add a definition; a different one of the same name is an error."""
        path = self.files.definition(definition.op_type, definition.name)
        return self._add(definition, self._definitions, path, definition.to_json())

    def add_solution(self, solution: Solution) -> Path:
        op_type = self._definition(solution.definition).op_type
        path = self.files.solution(solution.author, op_type, solution.definition, solution.name)
        return self._add(solution, self._solutions, path, solution.to_json())

    def add_workload(self, definition: str, workload: Workload) -> Path:
        return self.add_workloads(definition, [workload])

    def add_workloads(self, definition: str, workloads: Iterable[Workload]) -> Path:
        """Add workloads, except for those that are already there."""
        path = self.files.workload(self._definition(definition).op_type, definition)
        there = {trace.workload.uuid: trace.workload for trace in self.workloads(definition)}
        lines = []
        for workload in workloads:
            if there.setdefault(workload.uuid, workload) is workload:
                lines.append(Trace(definition=definition, workload=workload).to_line())
            elif there[workload.uuid] != workload:
                raise UsageError(
                    f"{path} has another workload {workload.uuid}", "give this one its own uuid"
                )
        append_lines(path, lines)
        return path

    def add_traces(self, traces: Iterable[Trace]) -> None:
        """Append traces to the files of their authors, beside what other processes add."""
        lines: dict[Path, list[str]] = {}
        for trace in traces:
            lines.setdefault(self._trace_file(trace), []).append(trace.to_line())
        for path, added in lines.items():
            append_lines(path, added)

    def filter_traces(
        self, definition: str, atol: float = 1e-2, rtol: float = 1e-2
    ) -> Iterator[Trace]:
        """Yield traces that passed within these errors."""
        return (trace for trace in self.traces(definition) if is_within(trace, atol, rtol))

    def get_best_trace(
        self,
        definition: str,
        axes: Mapping[str, int] | None = None,
        max_abs_error: float = 1e-2,
        max_rel_error: float = 1e-2,
    ) -> Trace | None:
        """Return the trace with the largest speedup at these sizes, among correct ones."""
        wanted = {*(axes or {}).items()}
        fitting = (
            trace
            for trace in self.filter_traces(definition, max_abs_error, max_rel_error)
            if wanted <= {*trace.workload.axes.items()}
        )
        return max(fitting, key=speedup, default=None)

    def get_solution_score(
        self, solution_name: str, baseline_author: str = BASELINE
    ) -> SpeedupMetrics | None:
        """Mean of the baseline's latency over the solution's; 0 if it failed a workload.

        Returns None for an unknown solution, for the baseline itself, and if no workload is common.
        """
        return Scores(self, baseline_author).of_solution(solution_name)

    def get_author_score(
        self,
        author: str,
        baseline_author: str = BASELINE,
        op_type: str | None = None,
        definition_name: str | None = None,
    ) -> SpeedupMetrics | None:
        """Mean over definitions, each with the author's best solution."""
        return Scores(self, baseline_author).of_author(author, op_type, definition_name)

    def rank_authors(
        self,
        baseline_author: str = BASELINE,
        op_type: str | None = None,
        definition_name: str | None = None,
    ) -> list[tuple[str, SpeedupMetrics]]:
        """Authors, the best first, without the baseline's. Each definition needs one baseline."""
        return Scores(self, baseline_author).ranking(op_type, definition_name)

    def summary(
        self,
        baseline_author: str = BASELINE,
        op_type: str | None = None,
        definition_name: str | None = None,
    ) -> TraceSetSummary:
        """Counts of all traces, and the ranking within the selection."""
        evaluations = [trace.evaluation for trace in self.traces()]
        statuses = Counter(evaluation.status.value for evaluation in evaluations if evaluation)
        total, passed = len(evaluations), statuses["PASSED"]
        rankings = self.rank_authors(baseline_author, op_type, definition_name) if total else []
        return TraceSetSummary(total, passed, total - passed, rankings, dict(statuses))

    def rank_by_reference(
        self, op_type: str | None = None, definition: str | None = None
    ) -> list[AuthorScore]:
        """Rank every author against the references, workload by workload (fictl's own)."""
        return rank(self._by_author(op_type, definition))

    def _by_author(
        self, op_type: str | None, definition: str | None
    ) -> Iterator[tuple[str, Trace]]:
        for trace in self.traces(definition):
            known = self.definitions.get(trace.definition)
            solution = self.get_solution(trace.solution or "")
            if op_type is None or (known and known.op_type == op_type):
                yield solution.author if solution else "", trace

    @cached_property
    def _definitions(self) -> dict[str, tuple[Definition, Path]]:
        return _read_all(Definition, self.files.definitions())

    @cached_property
    def _solutions(self) -> dict[str, tuple[Solution, Path]]:
        return _read_all(Solution, self.files.solutions())

    def _workload_files(self, definition: str | None) -> Iterator[tuple[Path, str]]:
        """Files of workloads, with the definition of lines that name none."""
        for name, (_, path) in self._definitions.items() if self.files.is_sol else ():
            beside = self.files.beside(path)
            if definition in (None, name) and os.path.isfile(beside):
                yield beside, name
        yield from ((path, path.stem) for path in self.files.workloads(definition))

    def _definition(self, name: str) -> Definition:
        if name not in self.definitions:
            raise UsageError(
                f"there is no definition {name} in {self.root}",
                f"add it below {self.root / 'definitions'}",
            )
        return self.definitions[name]

    def _trace_file(self, trace: Trace) -> Path:
        if trace.solution is None:
            raise UsageError(
                f"a trace of {trace.definition} has no solution", "a workload is added as one"
            )
        if trace.solution not in self._solutions:
            # Another process may have added it since they were read.
            self.__dict__.pop("_solutions", None)
        solution = self.get_solution(trace.solution)
        if solution is None:
            raise UsageError(
                f"there is no solution {trace.solution} in {self.root}", "add it before its traces"
            )
        op_type = self._definition(trace.definition).op_type
        return self.files.trace(solution.author, op_type, trace.definition)

    def _add(
        self, document: _Named, known: dict[str, tuple[_Named, Path]], path: Path, text: str
    ) -> Path:
        if document.name in known:
            there, place = known[document.name]
            if there != document:
                raise UsageError(
                    f"{place} is another {document.name}", "give this one its own name"
                )
            return place
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, text)
        except OSError as error:
            raise FictlError(f"{path} cannot be written: {error.strerror}") from None
        known[document.name] = document, path
        self.__dict__.pop("definitions", None)
        return path


def _read_all(model: type[_Named], paths: Iterable[Path]) -> dict[str, tuple[_Named, Path]]:
    documents: dict[str, tuple[_Named, Path]] = {}
    for path in paths:
        document = model.read(path)
        if document.name in documents:
            raise UsageError(
                f"{documents[document.name][1]} and {path} are both named {document.name}",
                "names are unique in a dataset",
            )
        documents[document.name] = document, path
    return documents
