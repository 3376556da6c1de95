"""Outputs that a function takes as arguments: what to allocate for them."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import torch

from fictl.case.parameters import flat_parameters
from fictl.trace import Case, TraceTemplate
from fictl.trace.extract import case_dtypes


@dataclass(frozen=True)
class Room:
    """For an output that the caller provides; `required` where the function does not allocate it."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    required: bool = False

    def empty(self, device: str) -> torch.Tensor:
        return torch.empty(self.shape, dtype=self.dtype, device=device)


def rooms(
    api: Any, template: TraceTemplate, case: Case, inputs: Collection[str]
) -> dict[str, Room]:
    """Of the outputs that `api` has parameters for, those that are no inputs."""
    if template.bind is not None:
        return {}
    parameters = flat_parameters(api)
    sizes = template.check_sizes(case.sizes, absent=template.optional_axes(case.passing))
    dtypes = case_dtypes(template, case.dtype, case.passing)
    return {
        name: Room(
            tuple(sizes[axis] for axis in spec.axes),
            getattr(torch, dtypes[name]),
            parameters[name].default is inspect.Parameter.empty,
        )
        for name, spec in template.outputs.items()
        if name in parameters and name not in inputs
    }
