"""`fictl check`: the layout rules, one function each. Rules read files, never import them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

from fictl.project.check import (
    bindings,
    code_arguments,
    includes,
    layout,
    names,
    python_files,
    traces,
)
from fictl.project.check.problem import Problem
from fictl.project.discover import folders
from fictl.project.folder import OpFolder
from fictl.project.project import Project
from fictl.project.python_source import SourceError

__all__ = ["OP_RULES", "PROJECT_RULES", "Problem", "check_ops", "check_project"]

OP_RULES: tuple[Callable[[OpFolder], Iterable[Problem]], ...] = (
    layout.files_are_there,
    layout.jit_is_there_where_it_is_needed,
    layout.names_are_importable,
    layout.python_files_define_their_part,
    layout.entries_yield_something,
    layout.a_test_exists,
    layout.headers_open_with_their_story,
    python_files.imports_stay_inside,
    code_arguments.functions_are_there,
    code_arguments.backwards_fit_their_ops,
    traces.templates_match_functions,
    bindings.exports_are_called,
    bindings.declarations_are_the_launchers,
    includes.headers_are_pure,
    includes.heavy_headers_are_declared,
    includes.tvm_stays_in_the_binding,
    includes.includes_are_plain,
    includes.launches_go_through_the_library,
)

PROJECT_RULES: tuple[Callable[[Project], Iterable[Problem]], ...] = (
    names.each_is_defined_once,
    names.uses_have_no_cycle,
    names.names_fit_one_stub,
    layout.kernels_is_no_package,
    layout.private_folders_hold_no_op,
    includes.library_is_pure,
)


def check_ops(folders: Iterable[OpFolder]) -> tuple[Problem, ...]:
    """Check each op by itself."""
    return _checked(rule(folder) for folder in folders for rule in OP_RULES)


def check_project(project: Project) -> tuple[Problem, ...]:
    """Check each op of a project, and the rules that concern several ops."""
    ops = (rule(folder) for folder in folders(project) for rule in OP_RULES)
    return _checked(chain(ops, (rule(project) for rule in PROJECT_RULES)))


def _checked(results: Iterable[Iterable[Problem]]) -> tuple[Problem, ...]:
    """Collect the problems, sorted. A set, because each rule reports an unreadable file."""
    problems: set[Problem] = set()
    for result in results:
        try:
            problems.update(result)
        except SourceError as error:
            problems.add(Problem("readable", error.path, error.line, error.problem, error.hint))
    return tuple(
        sorted(problems, key=lambda problem: (str(problem.path), problem.line, problem.message))
    )
