"""Outputs that a function takes as arguments: their names, and their specs for allocation."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fictl.case.parameters import flat_parameters, input_parameters
from fictl.trace import Case, TraceTemplate
from fictl.trace.extract import case_dtypes

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class OutputSpec:
    """Shape and dtype of one output; `required` if the function does not allocate it itself."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    required: bool = False

    def empty(self, device: str) -> torch.Tensor:
        import torch

        return torch.empty(self.shape, dtype=self.dtype, device=device)


def output_arguments(template: TraceTemplate, parameters: Collection[str]) -> tuple[str, ...]:
    """Names of the outputs that a caller may allocate: parameters that are not inputs."""
    inputs = input_parameters(template)
    return tuple(name for name in template.outputs if name in parameters and name not in inputs)


def output_specs(
    template: TraceTemplate, case: Case, names: Iterable[str]
) -> dict[str, OutputSpec]:
    """Specs of these outputs in a case, by the trace."""
    import torch

    sizes = case_sizes(template, case)
    dtypes = case_dtypes(template, case.dtype, case.passing)
    return {
        name: OutputSpec(
            tuple(sizes[axis] for axis in template.outputs[name].axes),
            getattr(torch, dtypes[name]),
        )
        for name in names
    }


def argument_specs(api: Any, template: TraceTemplate, case: Case) -> dict[str, OutputSpec]:
    """Return specs of the outputs that a caller may allocate; none if the trace has `bind`."""
    if template.bind is not None:
        return {}
    parameters = flat_parameters(api)
    specs = output_specs(template, case, output_arguments(template, parameters))
    return {
        name: replace(spec, required=parameters[name].default is inspect.Parameter.empty)
        for name, spec in specs.items()
    }


def case_sizes(template: TraceTemplate, case: Case) -> dict[str, int]:
    """Return the sizes of all axes of the case, including those that the trace computes."""
    return template.check_sizes(case.sizes, absent=template.optional_axes(case.passing))
