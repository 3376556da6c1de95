"""Variants translated from a user's Python functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fictl.op.translate import (
    Parameter,
    PythonFunction,
    Result,
    Type,
    Value,
    body,
    read_function,
)

from .cpp_struct import Fields, struct_name
from .scalar import Scalar
from .user_variant import UserVariant

# What the parameters of a user's functions stand for, by their names.
_PLACES = {
    **dict.fromkeys(("q_idx", "qo_idx"), "at.query"),
    "kv_idx": "at.key",
    **dict.fromkeys(("head", "head_idx", "qo_head_idx"), "at.head"),
    **dict.fromkeys(("kv_head", "kv_head_idx"), "at.kv_head"),
    **dict.fromkeys(("batch", "batch_idx", "request"), "at.request"),
    **dict.fromkeys(("q_len", "qo_len"), "at.q_len"),
    "kv_len": "at.kv_len",
}


@dataclass(frozen=True)
class _Method:
    """A method of the struct: its head in C++, and the parameters that only it has."""

    flag: str
    head: str
    result: Result
    own: Mapping[str, Value]


_MASK = _Method(
    "kMasks", "bool keeps(const fictl::attention::Place& at) const", Result.CONDITION, {}
)
_LOGITS = _Method(
    "kTransforms",
    "float transform(float logit, const fictl::attention::Place& at) const",
    Result.NUMBER,
    dict.fromkeys(("logit", "logits", "score"), Value("logit", Type.FLOAT, inexact=True)),
)
_OUTPUT = _Method(
    "kOutputs",
    "float output(float value, const fictl::attention::Place& at, int dim) const",
    Result.NUMBER,
    {"value": Value("value", Type.FLOAT, inexact=True), "dim": Value("dim", Type.INT)},
)


def from_functions(
    mask: Callable[..., object] | None,
    logits: Callable[..., object] | None,
    output: Callable[..., object] | None,
) -> tuple[UserVariant, tuple[Scalar, ...]]:
    """Translate the functions that are given, of which there is at least one."""
    given = [(_MASK, mask), (_LOGITS, logits), (_OUTPUT, output)]
    read = [(method, read_function(python)) for method, python in given if python is not None]
    scalars = _scalars(read)
    fields = Fields(scalars)
    headers: set[str] = set()
    parts: list[str] = []
    for method, function in read:
        lines, needed = body(function, _values(method, function, fields), method.result)
        headers |= needed
        parts.append(_method(method, lines))
    name = struct_name(read[0][1].name)
    parts = [*fields.members("\n".join(parts)), *parts, fields.maker(name, "\n".join(parts))]
    includes = [f"#include <fictl/device/{header}.cuh>\n" for header in sorted(headers)]
    inside = "\n\n".join(parts)
    struct = f"struct {name} : fictl::attention::Plain {{\n{inside}\n}};\n"
    text = "\n".join(["".join(includes), struct]) if includes else struct
    return UserVariant(name, text, tuple(scalar.name for scalar in scalars)), scalars


def _scalars(read: Sequence[tuple[_Method, PythonFunction]]) -> tuple[Scalar, ...]:
    """List the scalars once, in the order in which they are met."""
    scalars: dict[str, Scalar] = {}
    for method, function in read:
        for parameter in function.parameters:
            name = parameter.name
            if name not in _PLACES and name not in method.own:
                scalars[name] = _joined(scalars.get(name), parameter, function)
    return tuple(scalars.values())


def _joined(known: Scalar | None, parameter: Parameter, function: PythonFunction) -> Scalar:
    """Join what two functions that share a scalar say of it."""
    kind = Type.FLOAT if parameter.type is None else parameter.type
    if known is None:
        return Scalar(parameter.name, kind, parameter.default)
    kind = known.type if parameter.type is None else kind
    default = known.default if parameter.default is None else parameter.default
    differ = known.default is not None and default != known.default
    if kind is not known.type or differ:
        raise function.refused(
            parameter.node,
            f"{parameter.name!r} is another number here than in the function before",
            "give it one type and one default, or two names",
        )
    return Scalar(parameter.name, kind, default)


def _values(method: _Method, function: PythonFunction, fields: Fields) -> dict[str, Value]:
    """Map the parameters of this function to C++."""
    places = {name: Value(text, Type.INT) for name, text in _PLACES.items()}
    known = {**places, **fields.values(), **method.own}
    return {parameter.name: known[parameter.name] for parameter in function.parameters}


def _method(method: _Method, lines: Sequence[str]) -> str:
    inside = "\n".join(f"    {line}" for line in lines)
    flag = f"  static constexpr bool {method.flag} = true;"
    return f"{flag}\n  __device__ {method.head} {{\n{inside}\n  }}"
