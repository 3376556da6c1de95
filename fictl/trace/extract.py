"""Reads sizes of axes and dtypes of inputs and outputs from the arguments of a call."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from fictl.dtype import parse_dtype
from fictl.errors import InvalidValue
from fictl.trace.expression import evaluate, names_in
from fictl.trace.template import Const, Expr, Scalar, Tensor, TraceTemplate


def axis_sizes(template: TraceTemplate, arguments: Mapping[str, Any]) -> dict[str, int]:
    """Sizes from shapes of required tensors, then from scalars, then from optional tensors.

    `arguments` are by parameter. Axes that only omitted tensors have are left out.
    """
    seen: dict[str, tuple[int, str]] = {}
    for axis, size, where in _said(template, arguments):
        before, source = seen.setdefault(axis, (size, where))
        if before != size:
            raise InvalidValue(
                f"{axis} is {size} in {where} and {before} in {source}",
                "all sizes of one axis must be the same",
            )
    sizes = {axis: size for axis, (size, _) in seen.items()}
    absent = template.optional_axes(passed(template, arguments))
    missing = [
        name
        for name, axis in template.axes.items()
        if name not in {*sizes, *absent} and not isinstance(axis, Expr)
    ]
    if missing:
        raise InvalidValue(
            f"no argument gives the size of {', '.join(missing)}",
            f"pass the tensors that have it; given are {', '.join(arguments)}",
        )
    _compute(template, arguments, sizes, absent)
    return {name: sizes[name] for name in template.axes if name in sizes}


def passed(template: TraceTemplate, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the optional inputs that are not None."""
    return tuple(
        name
        for name, spec in template.input_tensors()
        if spec.optional and arguments.get(template.parameter(name)) is not None
    )


def dtypes(template: TraceTemplate, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Full dtype names of the passed inputs and of the outputs."""
    seen = {}
    for name, spec in template.inputs.items():
        value = arguments.get(template.parameter(name))
        if isinstance(spec, Scalar):
            seen[name] = parse_dtype(spec.dtype).name
        elif value is not None:
            seen[name] = parse_dtype(str(value.dtype)).name
    return {**seen, **_output_dtypes(template, seen)}


def case_dtypes(template: TraceTemplate, dtype: str, passing: tuple[str, ...]) -> dict[str, str]:
    """Dtypes of a call with this dtype and these optional inputs."""
    case = parse_dtype(dtype).name
    there: dict[str, str] = {}
    for name, spec in template.inputs.items():
        if isinstance(spec, Tensor) and spec.optional and name not in passing:
            continue
        taken = there.get(getattr(spec, "dtype_from", ""))
        there[name] = taken or (parse_dtype(spec.dtype).name if spec.dtype else case)
    return {**there, **_output_dtypes(template, there)}


def case_dtype(template: TraceTemplate, seen: Mapping[str, str]) -> str:
    """Dtype of the first input that has none of its own."""
    free = [n for n, spec in template.input_tensors() if not (spec.dtype or spec.dtype_from)]
    return next((seen[n] for n in (*free, *template.inputs) if n in seen), "float32")


def _output_dtypes(template: TraceTemplate, inputs: Mapping[str, str]) -> dict[str, str]:
    case = case_dtype(template, inputs)
    return {
        name: inputs.get(spec.dtype_from) or (parse_dtype(spec.dtype).name if spec.dtype else case)
        for name, spec in template.outputs.items()
    }


def _said(template: TraceTemplate, arguments: Mapping[str, Any]) -> Iterator[tuple[str, int, str]]:
    """Yield (axis, size, source), the most reliable source first."""
    for name, axis in template.axes.items():
        if isinstance(axis, Const) and axis.value is not None:
            yield name, axis.value, "the trace"
    tensors = list(template.input_tensors())
    for name, spec in tensors:
        if not spec.optional:
            yield from _of_tensor(template.parameter(name), spec, arguments)
    for name in template.scalars():
        if name in template.axes and arguments.get(name) is not None:
            yield name, int(arguments[name]), f"the argument {name}"
    for name, spec in tensors:
        if spec.optional:
            yield from _of_tensor(template.parameter(name), spec, arguments)


def _of_tensor(
    name: str, spec: Tensor, arguments: Mapping[str, Any]
) -> Iterator[tuple[str, int, str]]:
    value = arguments.get(name)
    if value is None:
        return
    shape = getattr(value, "shape", None)
    if shape is None:
        raise InvalidValue(f"{name} is {value!r}, which has no shape", "pass a tensor")
    rank = len(spec.axes)
    if len(shape) < rank or (len(shape) > rank == 0):
        raise InvalidValue(
            f"{name} has the shape {tuple(shape)}, its axes are ({', '.join(spec.axes)})",
            f"pass {rank} dimensions; leading ones may be more",
        )
    extra = len(shape) - rank
    merged = (math.prod(shape[: extra + 1]), *shape[extra + 1 :]) if extra else tuple(shape)
    where = f"{name} of shape {tuple(shape)}"
    yield from ((axis, int(size), where) for axis, size in zip(spec.axes, merged, strict=True))


def _compute(
    template: TraceTemplate, arguments: Mapping[str, Any], sizes: dict[str, int], absent: set[str]
) -> None:
    scalars = {n: arguments.get(n, value) for n, value in template.scalars().items()}
    for name, axis in template.axes.items():
        if not isinstance(axis, Expr) or names_in(axis.text) & absent:
            continue
        size = int(evaluate(axis.text, {**scalars, **sizes}))
        if sizes.setdefault(name, size) != size:
            raise InvalidValue(f"{name} is {sizes[name]}, but {axis.text} is {size}", axis.doc)
