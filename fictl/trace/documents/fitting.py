"""Checks that a workload fits its definition: sizes, constraints, inputs and their numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping

from fictl.errors import InvalidValue
from fictl.trace.documents.definition import Definition
from fictl.trace.documents.number import problem
from fictl.trace.documents.workload import ScalarInput, Workload

# torch counts elements and bytes in 64 bits.
_MOST_BYTES, _WIDEST = (1 << 63) - 1, 8


def require_fit(definition: Definition, workload: Workload) -> dict[str, int]:
    """Return the sizes of all axes; raise InvalidValue if the workload does not fit."""
    where = f"workload {workload.uuid}"
    try:
        sizes = definition.sizes(workload.axes, workload.scalars())
    except InvalidValue as error:
        raise InvalidValue(f"{where}: {error.message}", error.hint) from None
    for name, wrong in wrong_inputs(definition, workload).items():
        raise InvalidValue(f"{where}: {name}: {wrong}", f"a workload of {definition.name} has it")
    if large := too_large(definition, workload.axes):
        raise InvalidValue(f"{where}: {large}", "no tensor has so many elements")
    return sizes


def wrong_inputs(definition: Definition, workload: Workload) -> dict[str, str]:
    """Problems of inputs, by name. An input that is left out is random."""
    problems: dict[str, str] = {}
    for name, given in workload.inputs.items():
        spec = definition.inputs.get(name)
        if spec is None:
            problems[name] = f"{definition.name} has no such input"
        elif isinstance(given, ScalarInput) and spec.shape is not None:
            problems[name] = f"a number, instead of a tensor of {spec.dtype}"
        elif isinstance(given, ScalarInput) and (wrong := problem(given.value, spec.dtype)):
            problems[name] = wrong
    return problems


def too_large(definition: Definition, axes: Mapping[str, int]) -> str:
    """The first input or output that no memory can hold, with its shape; or ''."""
    names = [*definition.inputs, *definition.outputs]
    shapes = [*definition.get_input_shapes(axes), *definition.get_output_shapes(axes)]
    for name, shape in zip(names, shapes, strict=True):
        # An axis of 0 leaves nothing, and the others may still be too much for a stride.
        if math.prod(max(size, 1) for size in shape or ()) * _WIDEST > _MOST_BYTES:
            return f"{name} would be {[*(shape or ())]}"
    return ""
