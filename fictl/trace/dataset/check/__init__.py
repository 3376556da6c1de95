"""Checks a dataset without running anything: layout, references, axes, contents of files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from fictl.trace.dataset.check.definitions import check_definitions
from fictl.trace.dataset.check.finding import Finding
from fictl.trace.dataset.check.lines import Lines
from fictl.trace.dataset.check.scope import Scope
from fictl.trace.dataset.check.solutions import check_solutions
from fictl.trace.dataset.file_names import stems
from fictl.trace.dataset.speedup_metrics import BASELINE


def validate(scope: Scope) -> Iterator[Finding]:
    """Yield findings in the order of the files; `scope` counts what was checked."""
    yield from _strange_files(scope) if scope.wants("layout") else ()
    yield from check_definitions(scope)
    yield from check_solutions(scope)
    scope.require_known()
    workloads, traces = _workload_files(scope), _by_definition(scope, scope.files.traces())
    for name in sorted({*scope.definitions, *workloads, *traces}):
        if scope.has(name):
            lines = Lines(scope, name)
            yield from lines.check(workloads.get(name, []), traces.get(name, []))
            yield from _coverage(scope, lines)


def _strange_files(scope: Scope) -> Iterator[Finding]:
    for path, suffix in scope.files.others():
        text = f"ignored: files in this folder end in {suffix}"
        yield Finding("layout-unknown", path, text, level="warning")


def _workload_files(scope: Scope) -> dict[str, list[Path]]:
    files = _by_definition(scope, scope.files.workloads())
    for name, (_, path) in scope.definitions.items() if scope.files.is_sol else ():
        beside = scope.files.beside(path)
        if os.path.isfile(beside):
            files.setdefault(name, []).append(beside)
    return files


def _by_definition(scope: Scope, paths: Iterable[Path]) -> dict[str, list[Path]]:
    """Group files by the definition they are named after."""
    known = {stem: name for name in scope.definitions for stem in reversed(stems(name))}
    files: dict[str, list[Path]] = {}
    for path in paths:
        files.setdefault(known.get(path.stem, path.stem), []).append(path)
    return files


def _coverage(scope: Scope, lines: Lines) -> Iterator[Finding]:
    """Findings about what a benchmark of the definition would lack."""
    if lines.name not in scope.definitions:
        return
    path = scope.definitions[lines.name][1]
    authors = {s.author for s in scope.solutions.values() if s.definition == lines.name}
    if scope.wants("baseline") and BASELINE not in authors:
        text = f"it has no solution by {BASELINE}"
        yield Finding("baseline-missing", path, text, level="warning")
    if scope.wants("benchmark") and not lines.uuids:
        yield Finding("benchmark-workloads", path, "it has no workloads", level="warning")
    if scope.wants("benchmark") and not lines.passed:
        yield Finding("benchmark-traces", path, "no solution of it has passed", level="warning")
