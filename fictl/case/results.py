"""Results of a call by output name, and the reference's results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fictl.case.parameters import input_parameters

if TYPE_CHECKING:
    from fictl.trace import TraceTemplate


def named_results(
    template: TraceTemplate, arguments: Mapping[str, Any], returned: Any
) -> dict[str, Any]:
    """Map each output's name to its result.

    For an output passed as an argument, the argument is used, not the returned value. A function
    may return all its results, or only those that are not also inputs; None stands for one that was
    not asked for.
    """
    outputs = [*template.outputs]
    passed = {name: arguments[name] for name in outputs if arguments.get(name) is not None}
    if returned is None:
        lost = [name for name in outputs if name not in passed]
        assert not lost, f"it returned nothing, and has no argument {', '.join(lost)} to write"
        return passed
    values = [value for value in as_tuple(returned) if value is not None]
    inputs = input_parameters(template)
    computed = [name for name in outputs if name not in inputs]
    names = computed if len(values) == len(computed) else outputs
    assert len(values) == len(names), (
        f"it returned {len(values)} values, its trace has the outputs {', '.join(outputs)}"
    )
    return {**dict(zip(names, values, strict=True)), **passed}


def reference_results(template: TraceTemplate, inputs: Mapping[str, Any]) -> tuple[Any, ...]:
    """Run the trace's reference in fp64, on the device of the inputs; results in output order."""
    return as_tuple(template.reference(**{name: _double(value) for name, value in inputs.items()}))


def as_tuple(returned: Any) -> tuple[Any, ...]:
    """Return the results of a call, one or several, as a tuple."""
    return tuple(returned) if isinstance(returned, tuple | list) else (returned,)


def _double(value: Any) -> Any:
    return value.double() if getattr(value, "is_floating_point", bool)() else value
