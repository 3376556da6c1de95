"""Checks of solutions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from fictl.trace.dataset.check.finding import Finding, in_document, unreadable
from fictl.trace.dataset.check.scope import KnownSolution, Scope
from fictl.trace.documents.build_spec import SupportedLanguages
from fictl.trace.documents.reading import NotReadable
from fictl.trace.documents.solution import Solution

_COMPILED = {SupportedLanguages.CUDA, SupportedLanguages.CPP}
_SUFFIXES = {".cu", ".cpp", ".cc", ".cxx", ".c"}


def check_solutions(scope: Scope) -> Iterator[Finding]:
    """Check one solution at a time; sources are not kept in memory."""
    same: dict[str, str] = {}
    for path in scope.files.solutions():
        try:
            solution = Solution.read(path)
        except NotReadable as error:
            if scope.wants("solution") and scope.has(path.parent.name):
                yield from unreadable("solution-unreadable", error)
            continue
        if not scope.has(solution.definition):
            continue
        if solution.name in scope.solutions:
            other = scope.solutions[solution.name].path
            text = f"{other} is named {solution.name} too"
            yield in_document("solution-duplicate", path, text, "name")
            continue
        known = KnownSolution.of(solution, path)
        scope.solutions[solution.name] = known
        scope.counts["solutions"] += 1
        yield from _of_one(scope, solution, path)
        twin = same.setdefault(known.digest, solution.name)
        if twin != solution.name and scope.wants("solution"):
            text = f"its code is the same as that of {twin}"
            yield Finding("solution-same", path, text, level="warning")


def _of_one(scope: Scope, solution: Solution, path: Path) -> Iterator[Finding]:
    definition = scope.get(solution.definition)
    if definition is None:
        if scope.wants("solution") and solution.definition not in scope.unreadable:
            text = f"there is no definition {solution.definition}"
            yield in_document("solution-dangling", path, text, "definition")
    elif scope.wants("layout") and path.is_relative_to(scope.files.root / "solutions"):
        expected = scope.files.solution(
            solution.author, definition.op_type, definition.name, solution.name
        )
        if path != expected:
            yield Finding("layout-misplaced", path, f"its place is {expected}")
    if scope.wants("solution"):
        yield from _entry(solution, path)
        yield from _python(solution, path)


def _entry(solution: Solution, path: Path) -> Iterator[Finding]:
    entry, language = solution.get_entry_path(), solution.spec.language
    wanted = _SUFFIXES if language in _COMPILED else {".py"}
    if entry.suffix not in wanted:
        text = f"{entry} of a solution in {language.value} does not end in {' or '.join(sorted(wanted))}"
        yield in_document("solution-entry", path, text, "spec", "entry_point")
    elif language not in _COMPILED and not _may_define(solution):
        text = f"{entry} defines no {solution.get_entry_symbol()}"
        yield in_document("solution-entry", path, text, "spec", "entry_point")


def _python(solution: Solution, path: Path) -> Iterator[Finding]:
    for index, source in enumerate(solution.sources):
        if not source.path.endswith(".py"):
            continue
        try:
            ast.parse(source.content)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            text = f"{source.path} is not valid Python: {error}"
            yield in_document("solution-source", path, text, "sources", index, "content")


def _may_define(solution: Solution) -> bool:
    """Tell whether a file can define the symbol, also by assignment, import or a star import."""
    symbol = solution.get_entry_symbol().partition(".")[0]
    try:
        tree = ast.parse(solution.get_entry_source().content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True  # That is another finding.
    bound = {
        name
        for node in ast.walk(tree)
        for name in (
            getattr(node, "name", None),
            getattr(node, "asname", None),
            node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else None,
        )
    }
    return symbol in bound or "*" in bound
