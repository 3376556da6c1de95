"""Run of an op against the reference that a benchmark definition contains."""

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
from fictl.testing.generated.layout import MemoryLayout
from fictl.testing.traced.trace_check import run_reference
from fictl.trace import Case, Definition, TraceTemplate
from fictl.trace.describe import definition
from fictl.trace.documents.tensor_spec import torch_name
from fictl.trace.extract import case_dtype, case_dtypes

_SMALL = (7, 8, 16, 64, 128)
_MOST_ELEMENTS = 1 << 30
# Modules that a reference may import. The code still runs: read an untrusted file first.
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
    """Result of one run: its sizes, and the mismatch, or ''."""

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


def run_definition(stored: Definition, device: str, axes: Mapping[str, int]) -> DefinitionRun:
    """Run the op on cuda or emu and compare; `axes` are sizes of Var axes, the others are small."""
    traced = _op_of(stored)
    refuse_hostile(stored)
    template, passing = traced.template, [*stored.inputs]
    sizes = _sizes(stored, template, axes)
    dtype = _dtype(stored, traced, sizes)
    place = "cuda" if device == "cuda" else "cpu"
    inputs = make_inputs(template, sizes, dtype, place, passing=passing)
    try:
        expected = run_reference(stored, template, inputs)
    except Exception as error:
        raise UsageError(f"the reference of {stored.name} fails: {error!r}", str(sizes)) from error
    api = getattr(traced.folder.load("op"), traced.name)
    case = Case(traced.name, sizes, dtype, (*passing,))
    specs = argument_specs(api, template, case)
    call = GuardedCall(api, inputs, {n: s for n, s in specs.items() if s.required}, place)
    results = call.run(MemoryLayout.CONTIGUOUS, [])
    problem = _mismatch(template, inputs, results, as_tuple(expected))
    return DefinitionRun(stored.name, stored.api, device, sizes, problem)


def refuse_hostile(stored: Definition) -> None:
    """Refuse code with imports, names or statements that no computation needs, before it runs."""
    for source in filter(None, (stored.reference, stored.init)):
        for node in ast.walk(ast.parse(source)):
            problem = _strange(node)
            if problem:
                raise UsageError(
                    f"{stored.name}: its code has {problem}, which computes nothing",
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


def _op_of(stored: Definition) -> Traced:
    package, _, name = stored.api.rpartition(".ops.")
    if not package or not name.isidentifier():
        raise UsageError(
            f"{stored.name} names no op", "it needs the tag fi_api:<package>.ops.<function>"
        )
    for project in Project.all():
        if package == ("fictl" if project.is_shipped else project.package):
            folder = find_function(name, project)
            if folder is not None:
                return Traced(folder, name)
    raise UsageError(
        f"there is no op {stored.api!r} here", "fictl trace list shows those there are"
    )


def _sizes(stored: Definition, template: TraceTemplate, axes: Mapping[str, int]) -> dict[str, int]:
    constants = stored.const_axes
    wrong = sorted({*axes} - ({*stored.axes} - {*constants}))
    if wrong:
        variable = [name for name in stored.axes if name not in constants]
        raise UsageError(f"--axes names {', '.join(wrong)}", f"it may name {', '.join(variable)}")
    absent = template.optional_axes([*stored.inputs])
    free = [name for name in template.free_axes() if name not in {*constants, *axes, *absent}]
    known = _first_that_fits(template, {**constants, **axes}, free, absent)
    if template.elements(known, [*stored.inputs]) > _MOST_ELEMENTS:
        raise UsageError(f"{stored.name} is too large to run: {known}", "give smaller --axes")
    stored.sizes({axis: known[axis] for axis in stored.var_axes if axis in known})
    return known


def _first_that_fits(
    template: TraceTemplate, sizes: Mapping[str, int], free: list[str], absent: set[str]
) -> dict[str, int]:
    for size in _SMALL[:-1]:
        with suppress(UsageError):
            return template.check_sizes({**sizes, **dict.fromkeys(free, size)}, absent=absent)
    return template.check_sizes({**sizes, **dict.fromkeys(free, _SMALL[-1])}, absent=absent)


def _dtype(stored: Definition, traced: Traced, sizes: Mapping[str, int]) -> str:
    """Dtype of the case; raises where the op's axes or tensors differ from the definition's."""
    template, passing = traced.template, (*stored.inputs,)
    dtype = case_dtype(template, {name: torch_name(s.dtype) for name, s in stored.inputs.items()})
    now = definition(template, traced.op.api, sizes, case_dtypes(template, dtype, passing))
    for part, theirs, ours in (
        ("axes", {*stored.axes}, {*now.axes}),
        ("inputs", _shapes(stored.inputs), _shapes(now.inputs)),
        ("outputs", _shapes(stored.outputs), _shapes(now.outputs)),
    ):
        if theirs != ours:
            raise UsageError(
                f"the {part} of {stored.name} are not those of {stored.api}: {theirs}",
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
    """Describe a mismatch of the results or of the reference's number of values, or ''."""
    try:
        return mismatch(template, inputs, lambda: results, lambda: expected)
    except ValueError as error:
        return str(error)
