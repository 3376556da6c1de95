"""Expected results of a recorded call, by the family of its op, or by the op's trace."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

import torch

from fictl.case.parameters import input_parameters
from fictl.case.results import reference_results
from fictl.op import declaration
from fictl.paths import matching
from fictl.project import Project
from fictl.trace.template import TOLERANCES

# The file of a family that says what calls compute, and which may be replayed:
# CALLS: {name: function of (built, planned, given)}, and PLANS: the functions that plan an object.
_FILE = "_calls"
PLAN_METHODS = ("plan", "begin_forward")


@dataclass
class Expected:
    """Expected results. returned: in order; written: by parameter."""

    returned: tuple[torch.Tensor, ...] = ()
    written: Mapping[str, torch.Tensor] = field(default_factory=dict)
    tolerances: Mapping[str, tuple[float, float]] = field(default_factory=lambda: dict(TOLERANCES))


@dataclass(frozen=True)
class Families:
    """Calls that the families of the shipped project know, by the last word of a name."""

    calls: Mapping[str, Callable[..., dict[str, Any]]]
    plans: frozenset[str]

    def __contains__(self, name: str) -> bool:
        return name in self.calls or name in self.plans


@cache
def families() -> Families:
    """Read the families that have such a file; nothing else is imported for a recording."""
    calls: dict[str, Callable[..., dict[str, Any]]] = {}
    plans: set[str] = set()
    project = Project.shipped()
    for file in sorted(matching(project.kernels, f"*/{_FILE}.py")):
        module = import_module(f"{project.package}.{file.parent.name}.{_FILE}")
        calls |= module.CALLS
        plans |= {*module.PLANS}
    return Families(calls, frozenset(plans))


def by_trace(function: Any, given: Mapping[str, Any]) -> Expected | None:
    """Compute what the trace of an op says; None if it has no reference for these arguments."""
    op = declaration(function)
    template = op.template
    if template.judge is not None:
        return None
    inputs = {
        name: given[template.parameter(name)]
        for name in template.inputs
        if template.parameter(name) in given
    }
    results = dict(zip(template.outputs, reference_results(template, inputs), strict=True))
    names = input_parameters(template)
    written = {name: value for name, value in results.items() if name in names}
    returned = tuple(value for name, value in results.items() if name not in names)
    return Expected(returned, written, template.tolerances)


def arguments_of(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """Bind arguments to the names of parameters, with defaults."""
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return {name: value for name, value in bound.arguments.items() if name != "self"}
