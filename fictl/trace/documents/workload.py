"""Workload: the sizes and inputs that a solution is run with."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, PlainValidator, StrictBool

from fictl.trace.documents.part import (
    Count,
    InsidePath,
    NonEmpty,
    NotNegative,
    Part,
    Title,
    scalar,
)


class RandomInput(Part):
    """Made of the run's seed."""

    type: Literal["random"] = "random"


class ScalarInput(Part):
    """A number that is passed by value."""

    type: Literal["scalar"] = "scalar"
    value: Annotated[bool | int | float, PlainValidator(scalar)]


class SafetensorsInput(Part):
    """A tensor that is kept. `path` is relative to the dataset."""

    type: Literal["safetensors"] = "safetensors"
    path: InsidePath
    tensor_key: NonEmpty


class CustomInput(Part):
    """Made by a function that the definition names."""

    type: Literal["custom"] = "custom"


InputSpec: TypeAlias = Annotated[
    RandomInput | ScalarInput | SafetensorsInput | CustomInput, Field(discriminator="type")
]


class Tolerance(Part):
    """SOL-ExecBench's: |a - b| <= max_atol + max_rtol |b| for this share of elements.

    No element may be off by more than `max_error_cap`.
    """

    max_atol: NotNegative = 1e-2
    max_rtol: NotNegative = 1e-2
    required_matched_ratio: Annotated[NotNegative, Field(le=1)] = 0.99
    max_error_cap: NotNegative | None = None
    allow_negative_inf: StrictBool = False


class Workload(Part):
    """`axes` has the variable axes of the definition; the others follow."""

    axes: dict[NonEmpty, Count]
    inputs: dict[NonEmpty, InputSpec]
    uuid: Title
    tolerance: Tolerance | None = None

    def scalars(self) -> dict[str, Any]:
        """The inputs that are numbers."""
        return {n: spec.value for n, spec in self.inputs.items() if isinstance(spec, ScalarInput)}
