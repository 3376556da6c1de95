"""An op against the reference that a definition carries."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fictl.case.compare import mismatch
from fictl.case.definitions import Traced
from fictl.case.inputs import make_inputs
from fictl.case.outputs import argument_specs
from fictl.case.results import as_tuple
from fictl.errors import UsageError
from fictl.project import Project
from fictl.project.discover import find_function
from fictl.testing.generated.guarded_call import GuardedCall
from fictl.testing.generated.layout import Layout
from fictl.testing.traced.trace_check import run_reference
from fictl.trace import Case, Definition, TraceTemplate
from fictl.trace.describe import definition
from fictl.trace.documents.tensor_spec import torch_name
from fictl.trace.extract import case_dtype, case_dtypes

_SMALL = (7, 8, 16, 64, 128)
_MOST_ELEMENTS = 1 << 30
# What a reference computes with. It still is Python that runs: files of strangers are to be read.
_MODULES = {
    "__future__",
    "collections",
    "functools",
    "itertools",
    "math",
    "numpy",
    "torch",
    "typing",
}
_NAMES = {
    "breakpoint",
    "compile",
    "delattr",
    "eval",
    "exec",
    "getattr",
    "globals",
    "locals",
    "open",
    "setattr",
    "vars",
}
_ATTRIBUTES = {"classes", "compile", "hub", "jit", "load", "ops", "package", "save", "utils"}


@dataclass(frozen=True)
class DefinitionRun:
    """At which sizes, and what differs; '' where nothing does."""

    definition: str
    api: str
    device: str
    sizes: Mapping[str, int]
    mismatch: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "definition": self.definition,
            "api": self.api,
            "device": self.device,
            "sizes": dict(self.sizes),
            "match": not self.mismatch,
            "mismatch": self.mismatch,
        }


def run_definition(made: Definition, device: str, axes: Mapping[str, int]) -> DefinitionRun:
    """`device` is cuda or emu; `axes` are sizes of Var axes, the others are small."""
    traced = _op_of(made)
    refuse_hostile(made)
    template, passing = traced.template, [*made.inputs]
    sizes = _sizes(made, template, axes)
    dtype = _dtype(made, traced, sizes)
    place = "cuda" if device == "cuda" else "cpu"
    inputs = make_inputs(template, sizes, dtype, place, passing=passing)
    try:
        expected = run_reference(made, template, inputs)
    except Exception as error:
        raise UsageError(f"the reference of {made.name} fails: {error!r}", str(sizes)) from error
    api = getattr(traced.folder.load("op"), traced.name)
    case = Case(traced.name, sizes, dtype, (*passing,))
    specs = argument_specs(api, template, case)
    call = GuardedCall(api, inputs, {n: s for n, s in specs.items() if s.required}, place)
    results = call.run(Layout.CONTIGUOUS, [])
    problem = _mismatch(template, inputs, results, as_tuple(expected))
    return DefinitionRun(made.name, made.api, device, sizes, problem)


def refuse_hostile(made: Definition) -> None:
    """Before anything of it runs: imports, names and statements that no computation needs."""
    for source in filter(None, (made.reference, made.init)):
        for node in ast.walk(ast.parse(source)):
            problem = _strange(node)
            if problem:
                raise UsageError(
                    f"{made.name}: its code has {problem}, which computes nothing",
                    "a reference imports torch, math and the like, and calls nothing beside",
                )


def _strange(node: ast.AST) -> str:
    if isinstance(node, ast.Import | ast.ImportFrom):
        of = [getattr(node, "module", None) or ""]
        names = of if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        bad = [name for name in names if name.partition(".")[0] not in _MODULES]
        deep = {*names[0].split("."), *(alias.name for alias in node.names)} & _ATTRIBUTES
        return f"import {(bad or sorted(deep))[0]!r}" if bad or deep else ""
    if isinstance(node, ast.Attribute) and (node.attr in _ATTRIBUTES or node.attr.startswith("_")):
        return f".{node.attr}"
    if isinstance(node, ast.Name) and (node.id in _NAMES or "__" in node.id):
        return node.id
    return ""


def _op_of(made: Definition) -> Traced:
    package, _, name = made.api.rpartition(".ops.")
    if not package or not name.isidentifier():
        raise UsageError(
            f"{made.name} names no op", "it needs the tag fi_api:<package>.ops.<function>"
        )
    for project in Project.all():
        if package == ("fictl" if project.is_shipped else project.package):
            folder = find_function(name, project)
            if folder is not None:
                return Traced(folder, name)
    raise UsageError(f"there is no op {made.api!r} here", "fictl trace list shows those there are")


def _sizes(made: Definition, template: TraceTemplate, axes: Mapping[str, int]) -> dict[str, int]:
    constants = made.const_axes
    wrong = sorted({*axes} - ({*made.axes} - {*constants}))
    if wrong:
        variable = [name for name in made.axes if name not in constants]
        raise UsageError(f"--axes names {', '.join(wrong)}", f"it may name {', '.join(variable)}")
    absent = template.optional_axes([*made.inputs])
    free = [name for name in template.free_axes() if name not in {*constants, *axes, *absent}]
    known = _first_that_fits(template, {**constants, **axes}, free, absent)
    if template.elements(known, [*made.inputs]) > _MOST_ELEMENTS:
        raise UsageError(f"{made.name} is too large to run: {known}", "give smaller --axes")
    made.sizes({axis: known[axis] for axis in made.var_axes if axis in known})
    return known


def _first_that_fits(
    template: TraceTemplate, sizes: Mapping[str, int], free: list[str], absent: set[str]
) -> dict[str, int]:
    for size in _SMALL[:-1]:
        with suppress(UsageError):
            return template.check_sizes({**sizes, **dict.fromkeys(free, size)}, absent=absent)
    return template.check_sizes({**sizes, **dict.fromkeys(free, _SMALL[-1])}, absent=absent)


def _dtype(made: Definition, traced: Traced, sizes: Mapping[str, int]) -> str:
    """Of the case; what the op takes today must be what the definition says."""
    template, passing = traced.template, (*made.inputs,)
    dtype = case_dtype(template, {name: torch_name(s.dtype) for name, s in made.inputs.items()})
    now = definition(template, traced.op.api, sizes, case_dtypes(template, dtype, passing))
    for part, theirs, ours in (
        ("axes", {*made.axes}, {*now.axes}),
        ("inputs", _shapes(made.inputs), _shapes(now.inputs)),
        ("outputs", _shapes(made.outputs), _shapes(now.outputs)),
    ):
        if theirs != ours:
            raise UsageError(
                f"the {part} of {made.name} are not those of {made.api}: {theirs}",
                f"the op has {ours}; fictl trace check --update writes it again",
            )
    return dtype


def _shapes(specs: Mapping[str, Any]) -> dict[str, tuple[Any, str]]:
    return {name: (spec.shape, spec.dtype) for name, spec in specs.items()}


def _mismatch(
    template: TraceTemplate,
    inputs: Mapping[str, Any],
    results: Mapping[str, Any],
    expected: tuple[Any, ...],
) -> str:
    """Also of a reference that returns another number of values than the op has outputs."""
    try:
        return mismatch(template, inputs, lambda: results, lambda: expected)
    except ValueError as error:
        return str(error)
