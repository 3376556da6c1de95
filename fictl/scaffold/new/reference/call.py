"""One call of a reference, which shows shapes and dtypes, and that it can be called at all."""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fictl.child.program import Program
from fictl.dtype import parse_dtype
from fictl.errors import FictlError, UsageError, shown
from fictl.paths import real, same_packages
from fictl.process import TimedOut
from fictl.scaffold.new.reference.messages import ReferenceAnswer, ReferenceRequest
from fictl.scaffold.new.reference.parameters import ReferenceParameter
from fictl.scaffold.new.reference.source import FunctionSource
from fictl.scaffold.new.reference.translate import Translation
from fictl.scaffold.new.signature import parse_tensor
from fictl.syntax import parse_module

_PROGRAM = "fictl.scaffold.new.reference.child"
_SECONDS = 120.0
_WAYS = (
    'annotate them, as in x: Float[torch.Tensor, "n hidden"] or x: "n hidden", or show a call: '
    '--example "{name}(torch.randn(4, 64), …)"'
)


@dataclass(frozen=True)
class CallValue:
    """A tensor's shape and dtype, or a number, or the type of something else."""

    shape: tuple[int, ...] | None = None
    dtype: str = ""
    value: float | int | bool | None = None
    other: str = ""


@dataclass(frozen=True)
class ReferenceCall:
    """`changed` are the inputs that it wrote to; `from_example` if its sizes are an author's."""

    arguments: Mapping[str, CallValue]
    results: tuple[CallValue, ...]
    changed: tuple[str, ...]
    from_example: bool = False


def with_said(
    parameters: Sequence[ReferenceParameter], inputs: Sequence[str]
) -> tuple[ReferenceParameter, ...]:
    """The texts of --input in place of what annotations say."""
    given = {text.partition(":")[0].strip(): text for text in inputs}
    known = {item.name for item in parameters}
    strange = [name for name in given if name not in known]
    if strange:
        raise UsageError(
            f"--input names {strange[0]!r}, which is not a parameter of the reference",
            f"its parameters are {', '.join(sorted(known))}",
        )
    return tuple(
        _with(item, given[item.name]) if item.name in given else item for item in parameters
    )


def _with(parameter: ReferenceParameter, text: str) -> ReferenceParameter:
    parse_tensor(text)
    _, axes, *dtype = text.split(":")
    return ReferenceParameter(
        parameter.name, "tensor", axes, parse_dtype(dtype[0]).short if dtype else ""
    )


def invented(
    parameters: Sequence[ReferenceParameter], translation: Translation
) -> dict[str, Any] | None:
    """Arguments of shapes that annotations say, or that no kernel of its sort could mind."""
    tensors = [p for p in parameters if p.role in ("tensor", "")]
    if not all(p.axes and p.role == "tensor" for p in tensors):
        axes = translation.usual_axes(len(tensors))
        if not axes or any(p.axes for p in tensors):
            return None
        tensors = [replace(p, axes=axes) for p in tensors]
    sizes: dict[str, int] = {}
    invented_values: dict[str, Any] = {}
    for tensor in tensors:
        axes_of = parse_tensor(f"{_safe(tensor.name)}:{tensor.axes}", fixed_sizes=True).axes
        shape = [sizes.setdefault(a.name, a.size or _size(len(sizes))) for a in axes_of]
        dtype = parse_dtype(tensor.dtype).name if tensor.dtype else "float32"
        invented_values[tensor.name] = {"shape": shape, "dtype": dtype}
    for tensor in (p for p in parameters if p.role == "scalar"):
        invented_values[tensor.name] = {"value": _sample(tensor)}
    return invented_values


def _safe(name: str) -> str:
    """A parameter's name, which may be one that an op's cannot be."""
    return f"input_{name}".replace("__", "_")


def _size(number: int) -> int:
    """Twice a prime: none is the half, the double or the product of others, or a usual constant."""
    return 2 * (11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)[number % 12]


def _sample(parameter: ReferenceParameter) -> float | int | bool:
    if parameter.default:
        value: float | int | bool = ast.literal_eval(parameter.default)
        return value
    return {"float": 1.5, "int": 2, "bool": True}[parameter.type]


def call_reference(
    function: FunctionSource,
    example: str,
    arguments: dict[str, Any] | None,
    parameters: Sequence[ReferenceParameter],
    standalone: str,
    renamed: Mapping[str, str],
    sizes: Sequence[str] = (),
) -> ReferenceCall:
    """Call it by the example, by one of its docstring, or with invented arguments: the first
    available. `sizes` are names that a kernel has for axes, for the hint.
    """
    shown = example or ("" if _annotated(parameters) else _docstring_example(function))
    if not shown and arguments is None:
        unknown = [p.name for p in parameters if p.role in ("tensor", "") and not p.axes]
        raise UsageError(
            f"{function.at(function.node)}: nothing says the shapes of {', '.join(unknown)}",
            _of_kernel(unknown, sizes) if sizes else _WAYS.format(name=function.node.name),
        )
    if example:
        _check_example(example, function.node.name)
    request = ReferenceRequest(
        str(real(function.path)),
        function.node.name,
        shown,
        arguments,
        standalone,
        {p.name: renamed.get(p.name, p.name) for p in parameters},
    )
    answer = _child(function, request)
    call = answer.call
    if call is None:
        hint = "" if shown else _WAYS.format(name=function.node.name)
        raise UsageError(f"{function.path}:{function.node.name} {answer.error}", hint)
    values = {name: _value(described) for name, described in call["arguments"].items()}
    results = tuple(map(_value, call["results"]))
    return ReferenceCall(values, results, tuple(call["changed"]), from_example=bool(shown))


def _of_kernel(tensors: Sequence[str], sizes: Sequence[str]) -> str:
    options = " ".join(f"--input {name}:{','.join(sizes)}" for name in tensors)
    return (
        f"the kernel's sizes are {', '.join(sizes)}: call the axes so, as in {options}; another axis "
        "may have any name"
    )


def _annotated(parameters: Sequence[ReferenceParameter]) -> bool:
    return all(p.axes for p in parameters if p.role in ("tensor", ""))


def _docstring_example(function: FunctionSource) -> str:
    """Its `>>>` lines, to the last one that calls it."""
    import doctest

    doc = ast.get_docstring(function.node) or ""
    try:
        lines = [get_example.source for get_example in doctest.DocTestParser().get_examples(doc)]
    except ValueError:
        return ""
    calls = [n for n, line in enumerate(lines) if f"{function.node.name}(" in line]
    return "".join(lines[: calls[-1] + 1]) if calls else ""


def _check_example(text: str, name: str) -> None:
    try:
        tree = parse_module(text)
    except (SyntaxError, ValueError) as error:
        reason = getattr(error, "msg", "") or getattr(error, "message", error)
        raise UsageError(
            f"the example '{shown(text)}' is not Python: {reason}", "write one call of the function"
        ) from None
    if not any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree)):
        raise UsageError(
            f"the example {text!r} does not call {name}", f'as in --example "{name}(…)"'
        )


def _child(function: FunctionSource, request: ReferenceRequest) -> ReferenceAnswer:
    with tempfile.TemporaryDirectory(prefix="fictl-reference-") as folder:
        program = Program(_PROGRAM, request, same_packages()).filed(Path(folder))
        try:
            done = program.run(_SECONDS)
        except TimedOut:
            raise FictlError(
                f"{function.path}:{function.node.name} did not return within {_SECONDS:g} s",
                "show a call of smaller tensors with --example",
            ) from None
        if answer := program.answer(ReferenceAnswer):
            return answer
    last = next(reversed(done.output.strip().splitlines()), "")
    raise FictlError(
        f"{function.path}:{function.node.name} ended its process, with {done.code}", last
    )


def _value(described: Mapping[str, Any]) -> CallValue:
    shape = tuple(described["shape"]) if "shape" in described else None
    return CallValue(
        shape, described.get("dtype", ""), described.get("value"), described.get("other", "")
    )
