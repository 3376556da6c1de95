"""Checks that a workload has the inputs of its definition, and that its files contain them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fictl.errors import UsageError
from fictl.trace.dataset.files import DatasetFiles
from fictl.trace.dataset.safetensors_header import read_header
from fictl.trace.documents import number
from fictl.trace.documents.definition import Definition
from fictl.trace.documents.sizes import shapes_of
from fictl.trace.documents.tensor_spec import TensorSpec
from fictl.trace.documents.workload import (
    CustomInput,
    InputSpec,
    RandomInput,
    SafetensorsInput,
    ScalarInput,
    Workload,
)

# (kind of finding, what is wrong, the input)
Wrong = tuple[str, str, str]


def check_inputs(
    files: DatasetFiles, definition: Definition, workload: Workload, sizes: Mapping[str, int]
) -> Iterator[Wrong]:
    """Yield problems of a workload's inputs; `sizes` has all axes."""
    if missing := [name for name in definition.inputs if name not in workload.inputs]:
        yield "inputs", f"{definition.name} takes {', '.join(missing)} too", ""
    shapes = dict(zip(definition.inputs, shapes_of(definition.inputs.values(), sizes), strict=True))
    for name, given in workload.inputs.items():
        spec = definition.inputs.get(name)
        if spec is None:
            yield "inputs", f"{definition.name} has no such input", name
        elif isinstance(given, SafetensorsInput):
            yield from _tensor(files, given, name, spec, shapes[name])
        elif problem := _problem(definition, spec, given):
            yield "inputs", problem, name


def _problem(definition: Definition, spec: TensorSpec, given: InputSpec) -> str:
    if isinstance(given, CustomInput):
        makes = definition.custom_inputs_entrypoint or definition.init
        return "" if makes else "the definition has no code that generates custom inputs"
    if isinstance(given, ScalarInput):
        if spec.shape is not None:
            return f"a number, instead of a tensor of {spec.dtype}"
        return number.problem(given.value, spec.dtype)
    is_number = isinstance(given, RandomInput) and spec.shape is None
    return "a number needs a value: it cannot be random" if is_number else ""


def _tensor(
    files: DatasetFiles,
    given: SafetensorsInput,
    name: str,
    spec: TensorSpec,
    shape: tuple[int, ...] | None,
) -> Iterator[Wrong]:
    if shape is None:
        yield "inputs", "a tensor, instead of a number", name
        return
    try:
        held = read_header(files.blob(given.path))
    except UsageError as error:
        yield "blob", error.message, f"{name}.path"
        return
    info = held.get(given.tensor_key)
    if info is None:
        text = f"{given.path} has no {given.tensor_key!r}; it has {', '.join(held)}"
        yield "blob", text, f"{name}.tensor_key"
        return
    # Values of four bits may be kept two in a byte, whose shape is another.
    if "float4" not in spec.dtype and (info.dtype, info.shape) != (spec.dtype, shape):
        text = f"it is {info.dtype}{[*info.shape]}, expected {spec.dtype}{[*shape]}"
        yield "blob", text, name
