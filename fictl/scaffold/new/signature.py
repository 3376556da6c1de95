"""Signature of an op: tensors over named axes, and numbers; read from `x:n,hidden`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fictl.dtype import parse_dtype
from fictl.errors import UsageError
from fictl.quantity import LARGEST_SIZE, parse_number, parse_whole
from fictl.scaffold.new.names import check_axis, check_parameter

TENSOR_FORM = "write name:axis,axis or name:axis,axis:dtype, as in x:n,hidden or ids:n:i32"
SCALAR_FORM = "write name:float, name:int or name:bool, with a default or without: eps:float=1e-6"

_AXIS = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*(?:=\s*(?P<value>.+?))?\s*")
_SCALAR = re.compile(
    r"\s*(?P<name>[A-Za-z_]\w*)\s*(?::\s*(?P<type>\w+))?\s*(?:=\s*(?P<default>\S+))?\s*"
)
_TYPES = {"float": float, "int": int, "bool": bool}
_LARGEST_FLOAT = 3.4e38  # of float, which the kernel computes with
_BOOLS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class Axis:
    """`size` is the only one it can have; `text` computes it from other axes."""

    name: str
    size: int | None = None
    text: str = ""


@dataclass(frozen=True)
class Tensor:
    """`dtype` is empty where it is the case's."""

    name: str
    axes: tuple[Axis, ...]
    dtype: str = ""

    @property
    def axis_names(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self.axes)

    def to_dict(self) -> dict[str, object]:
        axes = [{"name": a.name, "size": a.size, "computed": a.text or None} for a in self.axes]
        return {"name": self.name, "axes": axes, "dtype": self.dtype or None}

    def __str__(self) -> str:
        dtype = f":{parse_dtype(self.dtype).short}" if self.dtype else ""
        return f"{self.name}:{','.join(self.axis_names)}{dtype}"


@dataclass(frozen=True)
class Scalar:
    """A number passed by value. `default` is None where the caller has to give it."""

    name: str
    type: str = "float"
    default: float | None = None

    def to_dict(self) -> dict[str, object]:
        return {"name": self.name, "type": self.type, "default": self.default}

    @property
    def value(self) -> float | int | bool:
        """Value for tests: a number that changes every result."""
        sample: dict[str, float | int | bool] = {"float": 1.5, "int": 2, "bool": True}
        return sample[self.type] if self.default is None else self.default

    def __str__(self) -> str:
        default = "" if self.default is None else f"={self.default}"
        return f"{self.name}:{self.type}{default}"

    @property
    def cpp(self) -> str:
        """Its type in a binding."""
        return {"float": "double", "int": "int64_t", "bool": "bool"}[self.type]

    @property
    def dtype(self) -> str:
        """Its dtype in a trace."""
        return {"float": "float32", "int": "int32", "bool": "bool"}[self.type]


@dataclass(frozen=True)
class Signature:
    """Arguments in the order of the call: inputs, scalars, outputs."""

    inputs: tuple[Tensor, ...]
    scalars: tuple[Scalar, ...]
    outputs: tuple[Tensor, ...]

    def __post_init__(self) -> None:
        seen: set[str] = set()
        arguments: tuple[Tensor | Scalar, ...] = (*self.inputs, *self.scalars, *self.outputs)
        for name in (argument.name for argument in arguments):
            if name in seen:
                raise UsageError(f"two arguments are called {name!r}", "rename one of them")
            seen.add(name)
        _check_axes(self.inputs, self.outputs, {scalar.name for scalar in self.scalars})

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Each once, in the order of their first use; a size that is said anywhere counts."""
        axes: dict[str, Axis] = {}
        for tensor in (*self.inputs, *self.outputs):
            for axis in tensor.axes:
                known = axes.get(axis.name)
                has_size = axis.size is not None or axis.text
                axes[axis.name] = axis if known is None or has_size else known
        return tuple(axes.values())


def parse_tensor(text: str, fixed_sizes: bool = True) -> Tensor:
    """`fixed_sizes`: what an axis is set to is a number; else it is an expression of axes."""
    name, *rest = text.split(":")
    if not rest or len(rest) > 2 or not all(part.strip() for part in rest):
        raise UsageError(f"{text!r} is not a tensor", TENSOR_FORM)
    axes = tuple(_axis(part, text, fixed_sizes) for part in rest[0].split(","))
    dtype = parse_dtype(rest[1]).name if len(rest) == 2 else ""
    return Tensor(check_parameter(name.strip()), axes, dtype)


def parse_scalar(text: str) -> Scalar:
    match = _SCALAR.fullmatch(text)
    kind = (match and match["type"]) or "float"
    if match is None or kind not in _TYPES:
        raise UsageError(f"{text!r} is not a scalar", SCALAR_FORM)
    try:
        default = None if match["default"] is None else _number(kind, match["default"])
    except (ValueError, KeyError):
        raise UsageError(
            f"{match['default']!r} is not of type {kind}, in {text!r}", SCALAR_FORM
        ) from None
    return Scalar(check_parameter(match["name"]), kind, default)


def _number(kind: str, text: str) -> float:
    if kind == "bool":
        return _BOOLS[text.lower()]
    if kind == "int":
        return parse_whole(text, -LARGEST_SIZE, LARGEST_SIZE)
    return parse_number(text, -_LARGEST_FLOAT, _LARGEST_FLOAT)


def _axis(part: str, text: str, fixed_sizes: bool) -> Axis:
    match = _AXIS.fullmatch(part)
    if match is None:
        raise UsageError(f"{part!r} is not an axis, in {text!r}", TENSOR_FORM)
    name, value = check_axis(match["name"]), match["value"]
    if value is None:
        return Axis(name)
    if re.fullmatch(r"[0-9]{1,12}", value) and int(value) > 0:
        return Axis(name, size=int(value))
    if fixed_sizes:
        raise UsageError(f"{name}={value} in {text!r} is not a size", "write a number, as in d=128")
    return Axis(name, text=value)


def _check_axes(inputs: Iterable[Tensor], outputs: Iterable[Tensor], scalars: set[str]) -> None:
    sizes: dict[str, int] = {}
    for tensor in inputs:
        for axis in tensor.axes:
            known = sizes.setdefault(axis.name, axis.size) if axis.size else None
            if known not in (None, axis.size):
                raise UsageError(
                    f"axis {axis.name} is {known} and {axis.size}", "give two axes two names"
                )
    known_axes = [name for tensor in inputs for name in tensor.axis_names]
    for tensor in outputs:
        for name in _unknown(tensor, {*known_axes, *scalars}):
            raise UsageError(
                f"output {tensor} names {name!r}, which is an axis of no input",
                f"axes are {', '.join(dict.fromkeys(known_axes)) or 'none'}; one that follows from "
                "them is written half=hidden//2, a fixed one k=8",
            )


def _unknown(tensor: Tensor, known: set[str]) -> Iterator[str]:
    for axis in tensor.axes:
        named = re.findall(r"[A-Za-z_]\w*", axis.text) if axis.text else [axis.name]
        yield from (name for name in named if not axis.size and name not in known | {"min", "max"})
