"""Sizes of a definition's axes for a workload, and their constraints."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from fictl.errors import InvalidValue
from fictl.syntax import parse_expression
from fictl.trace.documents.axis import AxisConst, AxisExpr, AxisVar
from fictl.trace.documents.tensor_spec import TensorSpec, is_digits
from fictl.trace.expression import Malformed, Number, evaluate, names_in


def computed_axes(
    name: str,
    declared: Mapping[str, AxisVar | AxisConst | AxisExpr],
    given: Mapping[str, int],
    equations: Mapping[str, str],
    scalars: Mapping[str, Number],
) -> dict[str, int]:
    """Sizes of all axes in order: given, constant or computed.

    An axis named like a scalar input has its value.
    """
    if unknown := [axis for axis in given if axis not in declared]:
        raise InvalidValue(
            f"{name} has no axes {', '.join(unknown)}", f"it has {', '.join(declared)}"
        )
    known: dict[str, Any] = {}
    waiting: dict[str, str] = {}
    for axis, kind in declared.items():
        if isinstance(kind, AxisExpr):
            waiting[axis] = kind.expression
        elif isinstance(kind, AxisConst):
            known[axis] = kind.value
        elif axis in given:
            known[axis] = given[axis]
        elif axis in scalars:
            known[axis] = scalars[axis]
        elif axis in equations:
            waiting[axis] = equations[axis]
        else:
            raise InvalidValue(f"{name} needs the size of {axis}", f"given are {dict(given)}")
    _follow(name, waiting, known, scalars)
    for axis, size in known.items():
        for source in (given, scalars):
            if source.get(axis, size) != size:
                raise InvalidValue(f"{axis} of {name} is given as {source[axis]}", f"it is {size}")
        if size < 0 or isinstance(size, bool) or not isinstance(size, int):
            raise InvalidValue(f"{axis} of {name} is {size!r}", "a size must be an integer from 0")
    return {axis: known[axis] for axis in declared}


def equations_of(constraints: Iterable[str]) -> dict[str, str]:
    """Constraints that define an axis: the name left of `==`, with the expression right of it."""
    equations: dict[str, str] = {}
    for text in constraints:
        match parse_expression(text):
            case ast.Compare(left=ast.Name(id=axis), ops=[ast.Eq()], comparators=[right]):
                equations.setdefault(axis, ast.unparse(right))
    return equations


def check_constraints(name: str, constraints: Iterable[str], values: Mapping[str, Number]) -> None:
    for text in constraints:
        if can_be_told(text, values) and not evaluate(text, values):
            named = {axis: values[axis] for axis in sorted(names_in(text))}
            shown = ", ".join(f"{axis}={value}" for axis, value in named.items())
            raise InvalidValue(f"{name} requires {text}", f"here {shown}")


def can_be_told(text: str, values: Iterable[str]) -> bool:
    """Tell whether an expression uses `values` only; others may look into tensors."""
    try:
        return names_in(text) <= {*values}
    except Malformed:
        return False


def shapes_of(
    specs: Iterable[TensorSpec], known: Mapping[str, int]
) -> list[tuple[int, ...] | None]:
    return [
        None
        if spec.shape is None
        else tuple(int(axis) if is_digits(axis) else known[axis] for axis in spec.shape)
        for spec in specs
    ]


def _follow(
    name: str, waiting: dict[str, str], known: dict[str, Any], scalars: Mapping[str, Number]
) -> None:
    """Compute axes in whatever order they depend on each other."""
    while waiting:
        values = {**scalars, **known}
        ready = [axis for axis, text in waiting.items() if can_be_told(text, values)]
        if not ready:
            unknown = "; ".join(f"{axis} = {text}" for axis, text in waiting.items())
            raise InvalidValue(f"{name} cannot compute {unknown}", f"known are {values}")
        for axis in ready:
            text = waiting.pop(axis)
            size = evaluate(text, values)
            if isinstance(size, float) and not size.is_integer():
                raise InvalidValue(
                    f"{axis} of {name} is {text} = {size}", "a size must be an integer"
                )
            known[axis] = int(size)
