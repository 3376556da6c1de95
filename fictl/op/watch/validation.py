"""FICTL_VALIDATE_INPUTS: check a call by its op's trace before a kernel reads its data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from fictl.dtype import parse_dtype
from fictl.errors import InvalidValue, UsageError
from fictl.log import warn_once
from fictl.op.declared import Op
from fictl.op.watch.call import Call
from fictl.op.watch.log_lines import describe
from fictl.trace import Expr, Tensor, TraceTemplate
from fictl.trace.expression import evaluate, names_in
from fictl.trace.extract import axis_sizes


class Validation:
    """An observer that refuses a call with InvalidValue. Arguments not in the trace are ignored."""

    def before(self, call: Call) -> None:
        try:
            arguments, template = call.arguments, call.op.template
        except (
            TypeError
        ):  # Arguments that do not fit the parameters: the call itself raises that error.
            return
        except UsageError as error:
            warn_once(f"inputs are not validated: {error.message}")
            return
        try:
            check(call.op, template, arguments)
        except ValueError as error:
            message, hint = getattr(error, "message", str(error)), getattr(error, "hint", "")
            raise InvalidValue(f"{call.op.name}: {message}", hint) from None

    def after(self, call: Call, result: Any) -> None:
        """Do nothing: tests check outputs."""

    def failed(self, call: Call, error: BaseException) -> None:
        """Do nothing: the error is reported by the call."""


def check(op: Op, template: TraceTemplate, arguments: Mapping[str, Any]) -> None:
    """Check types, then sizes, then data of tensors: each check may rely on earlier ones."""
    _check_inputs(template, arguments)
    _check_dtypes(op, template, arguments)
    if any(template.parameter(name) not in arguments for name, _ in _required(template)):
        return  # A run() before its plan() raises its own error.
    sizes = axis_sizes(template, arguments)
    _check_outputs(template, arguments, sizes)
    _check_constraints(template, arguments, sizes)
    _check_data(template, arguments)


def _check_inputs(template: TraceTemplate, arguments: Mapping[str, Any]) -> None:
    for name, spec in template.inputs.items():
        parameter = template.parameter(name)
        value = arguments.get(parameter)
        if value is None:
            if parameter in arguments and (name, spec) in _required(template):
                raise InvalidValue(f"argument '{parameter}' is None", "pass a tensor")
        elif isinstance(spec, Tensor) and not _is_tensor(value):
            raise InvalidValue(f"argument '{parameter}' is {describe(value)}", "pass a tensor")
        elif not isinstance(spec, Tensor) and not hasattr(value, "__float__"):
            raise InvalidValue(f"argument '{parameter}' is {describe(value)}", "pass a number")


def _check_dtypes(op: Op, template: TraceTemplate, arguments: Mapping[str, Any]) -> None:
    declared = tuple(dtype.name for dtype in op.dtypes)
    for parameter, spec, value in _tensors(template, arguments):
        wanted, why = declared, "it takes"
        source = template.parameter(spec.dtype_from) if spec.dtype_from else ""
        if source:
            given = arguments.get(source)
            wanted, why = (_dtype(given) if _is_tensor(given) else _dtype(value),), f"'{source}' is"
        elif spec.dtype:
            wanted = (parse_dtype(spec.dtype).name,)
        if _dtype(value) not in wanted:
            raise InvalidValue(
                f"argument '{parameter}' is {_dtype(value)}, but {why} {', '.join(wanted)}",
                f"make it torch.{wanted[0]}",
            )


def _check_outputs(
    template: TraceTemplate, arguments: Mapping[str, Any], sizes: Mapping[str, int]
) -> None:
    """Check the outputs that the call passes. An output of computed size may be larger."""
    for name, spec in template.outputs.items():
        value: Any = arguments.get(name)
        computed = any(isinstance(template.axes[axis], Expr) for axis in spec.axes)
        if not _is_tensor(value) or computed or not sizes.keys() >= {*spec.axes}:
            continue
        wanted, shape = tuple(sizes[axis] for axis in spec.axes), tuple(value.shape)
        inner = wanted[1:]  # The first axis may stand for several leading dimensions.
        if shape[len(shape) - len(inner) :] != inner or math.prod(shape) != math.prod(wanted):
            axes = ", ".join(f"{axis}={sizes[axis]}" for axis in spec.axes)
            raise InvalidValue(
                f"argument '{name}' has the shape {shape}, but the inputs say {axes}",
                f"pass {name}=None, which allocates it, or a tensor of that shape",
            )


def _check_constraints(
    template: TraceTemplate, arguments: Mapping[str, Any], sizes: Mapping[str, int]
) -> None:
    given = {n: arguments.get(template.parameter(n)) for n in template.scalars()}
    values = {**{name: value for name, value in given.items() if value is not None}, **sizes}
    for text in template.constraints:
        names = sorted(names_in(text))
        if values.keys() >= {*names} and not evaluate(text, values):
            seen = ", ".join(f"{name}={values[name]}" for name in names)
            raise InvalidValue(f"{text} does not hold", f"here {seen}")


def _check_data(template: TraceTemplate, arguments: Mapping[str, Any]) -> None:
    """Run the trace's own check, unless a graph is captured, when data cannot be read."""
    if template.validate is None:
        return
    tensors = [value for _, _, value in _tensors(template, arguments)]
    on_gpu = any(getattr(tensor, "is_cuda", False) for tensor in tensors)
    if not (on_gpu and torch.cuda.is_current_stream_capturing()):
        template.validate(**{n: arguments.get(template.parameter(n)) for n in template.inputs})


def _required(template: TraceTemplate) -> list[tuple[str, Tensor]]:
    return [(name, spec) for name, spec in template.input_tensors() if not spec.optional]


def _tensors(
    template: TraceTemplate, arguments: Mapping[str, Any]
) -> Iterator[tuple[str, Tensor, Any]]:
    """Yield (parameter, its description in the trace, the tensor passed), outputs too."""
    inputs = [(template.parameter(name), spec) for name, spec in template.input_tensors()]
    for parameter, spec in dict([*inputs, *template.outputs.items()]).items():
        if _is_tensor(arguments.get(parameter)):
            yield parameter, spec, arguments[parameter]


def _is_tensor(value: Any) -> bool:
    """True for a tensor of torch, or of another library that the FFI takes."""
    return hasattr(value, "shape") and hasattr(value, "dtype")


def _dtype(value: Any) -> str:
    return str(value.dtype).removeprefix("torch.")
