"""Checks of workloads and traces, line by line, one definition after the other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from fictl.errors import UsageError
from fictl.trace.dataset.check.finding import Finding, Level, unreadable
from fictl.trace.dataset.check.inputs import check_inputs
from fictl.trace.dataset.check.scope import Scope
from fictl.trace.dataset.file_names import file_name
from fictl.trace.dataset.record_lines import parse_trace, parse_workload
from fictl.trace.documents.evaluation import EvaluationStatus
from fictl.trace.documents.fitting import too_large
from fictl.trace.documents.reading import NotReadable, lines_of
from fictl.trace.documents.record import Trace

# Tolerance between a speedup and the ratio of its times.
_ROUNDING = 0.02


class Lines:
    """Checks the lines of one definition; only the uuids of its workloads are kept in memory."""

    def __init__(self, scope: Scope, name: str) -> None:
        self.scope = scope
        self.name = name
        self.definition = scope.get(name)
        self.uuids: set[str] = set()
        self.passed: set[str] = set()

    def check(self, workloads: list[Path], traces: list[Path]) -> Iterator[Finding]:
        for path in workloads:
            yield from self._workloads(path)
        for path in traces:
            yield from self._traces(path)

    def _workloads(self, path: Path) -> Iterator[Finding]:
        asked = self.scope.wants("workload")
        yield from self._place(path, "workload")
        for number, line in lines_of(path):
            try:
                trace = parse_workload(line, path, number, self.name)
            except NotReadable as error:
                yield from unreadable("workload-unreadable", error) if asked else ()
                continue
            self.scope.counts["workloads"] += 1
            if asked:
                yield from self._workload(trace, path, number)
            self.uuids.add(trace.workload.uuid)

    def _workload(self, trace: Trace, path: Path, number: int) -> Iterator[Finding]:
        def found(kind: str, text: str, field: str = "", level: Level = "error") -> Finding:
            return Finding(f"workload-{kind}", path, text, field, number, level)

        workload = trace.workload
        if not trace.is_workload_trace():
            yield found("evaluated", "it has a solution or an evaluation: that is a trace")
        if trace.definition != self.name:
            yield found("misplaced", f"a workload of {trace.definition}", "definition")
            return
        if workload.uuid in self.uuids:
            yield found("duplicate", f"another one is {workload.uuid}", "workload.uuid")
        if self.definition is None:
            return
        try:
            sizes = self.definition.sizes(workload.axes, workload.scalars())
        except UsageError as error:
            yield found("axes", f"{error.message} ({error.hint})", "workload.axes")
            return
        if large := too_large(self.definition, workload.axes):
            yield found("axes", f"{large}: no tensor has so many elements", "workload.axes")
        for kind, text, field in check_inputs(self.scope.files, self.definition, workload, sizes):
            yield found(kind, text, f"workload.inputs.{field}" if field else "workload.inputs")

    def _traces(self, path: Path) -> Iterator[Finding]:
        asked = self.scope.wants("trace")
        yield from self._place(path, "trace")
        for number, line in lines_of(path):
            try:
                trace = parse_trace(line, path, number)
            except NotReadable as error:
                yield from unreadable("trace-unreadable", error) if asked else ()
                continue
            self.scope.counts["traces"] += 1
            if trace.is_successful() and trace.solution:
                self.passed.add(trace.solution)
            yield from self._trace(trace, path, number) if asked else ()

    def _trace(self, trace: Trace, path: Path, number: int) -> Iterator[Finding]:
        def found(kind: str, text: str, field: str = "", level: Level = "error") -> Finding:
            return Finding(f"trace-{kind}", path, text, field, number, level)

        if trace.solution is None or trace.evaluation is None:
            yield found("incomplete", "it needs a solution and an evaluation")
            return
        if trace.definition != self.name:
            yield found("misplaced", f"a trace of {trace.definition}", "definition")
            return
        solution = self.scope.solutions.get(trace.solution)
        if solution is None:
            yield found("dangling", f"there is no solution {trace.solution}", "solution")
        elif solution.definition != self.name:
            yield found("dangling", f"{trace.solution} solves {solution.definition}", "solution")
        elif path.parent.parent.name != file_name(solution.author):
            text = f"{trace.solution} is by {solution.author}, its place is traces/{file_name(solution.author)}"
            yield found("misplaced", text, "solution")
        elif (trace.evaluation.fictl or {}).get(
            "solution_hash", solution.digest
        ) != solution.digest:
            text = f"{trace.solution} has changed since"
            yield found("stale", text, "evaluation.fictl.solution_hash", "warning")
        if trace.workload.uuid not in self.uuids:
            yield found("dangling", f"no workload is {trace.workload.uuid}", "workload.uuid")
        if problem := _performance(trace):
            yield found("performance", problem, "evaluation.performance", "warning")

    def _place(self, path: Path, kind: str) -> Iterator[Finding]:
        """Check the place of a file, once for all its lines."""
        if self.definition is None:
            if self.scope.wants(kind) and self.name not in self.scope.unreadable:
                yield Finding(f"{kind}-dangling", path, f"there is no definition {self.name}")
        elif self.scope.wants("layout") and not self._is_right(path):
            text = f"{self.name} is a {self.definition.op_type}: its folder must have this name"
            yield Finding("layout-misplaced", path, text)

    def _is_right(self, path: Path) -> bool:
        folder = path.relative_to(self.scope.files.root).parts[0]
        if folder not in {"workloads", "traces"}:
            return True  # SOL-ExecBench's stand beside their definition.
        return self.definition is None or path.parent.name == file_name(self.definition.op_type)


def _performance(trace: Trace) -> str:
    evaluation = trace.evaluation
    if evaluation is None or evaluation.performance is None:
        return ""
    performance = evaluation.performance
    if performance.latency_ms == 0:
        return "a latency of 0" if evaluation.status is EvaluationStatus.PASSED else ""
    ratio = performance.reference_latency_ms / performance.latency_ms
    if ratio and not math.isclose(performance.speedup_factor, ratio, rel_tol=_ROUNDING):
        return f"a speedup of {performance.speedup_factor:g}, but the times give {ratio:g}"
    return ""
