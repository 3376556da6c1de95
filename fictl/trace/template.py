"""TraceTemplate: the axes, inputs, outputs and reference of one public function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fictl.errors import UsageError


@dataclass(frozen=True)
class Var:
    """An axis whose size changes from call to call."""

    doc: str


@dataclass(frozen=True)
class Const:
    """An axis that a model fixes: a hidden size, a head dimension."""

    doc: str


@dataclass(frozen=True)
class Tensor:
    """A tensor over named axes. Its dtype is the case's, unless said here or taken from an input."""

    axes: tuple[str, ...]
    dtype: str = ""
    dtype_from: str = ""
    optional: bool = False


@dataclass(frozen=True)
class Scalar:
    """A number passed by value, and the value that tests use."""

    dtype: str
    value: float | int | bool = 1


# Two rounding steps of the format: one for the result, one for what the hardware may fuse.
TOLERANCES: Mapping[str, tuple[float, float]] = {
    "float64": (1e-12, 1e-12),
    "float32": (1e-5, 1e-6),
    "float16": (2e-3, 1e-4),
    "bfloat16": (1.6e-2, 1e-3),
    "float8_e4m3fn": (1.3e-1, 2e-2),
    "float8_e5m2": (2.5e-1, 2e-2),
}


@dataclass(frozen=True)
class TraceTemplate:
    """Names are those of the public function's parameters; `reference` runs in fp64 on them."""

    axes: Mapping[str, Var | Const]
    inputs: Mapping[str, Tensor | Scalar]
    outputs: Mapping[str, Tensor]
    reference: Callable[..., Any]
    constraints: tuple[str, ...] = ()
    tolerances: Mapping[str, tuple[float, float]] = field(default_factory=lambda: TOLERANCES)

    def __post_init__(self) -> None:
        for name, tensor in {**self.inputs, **self.outputs}.items():
            unknown = [axis for axis in getattr(tensor, "axes", ()) if axis not in self.axes]
            if unknown:
                raise UsageError(f"trace: {name} has the unknown axes {unknown}", "add them")

    def elements(self, sizes: Mapping[str, int]) -> int:
        """Of all inputs and outputs together."""
        tensors = [
            t for t in (*self.inputs.values(), *self.outputs.values()) if isinstance(t, Tensor)
        ]
        return sum(math.prod(sizes[axis] for axis in tensor.axes) for tensor in tensors)

    def check_sizes(self, sizes: Mapping[str, int]) -> None:
        """Every axis has a size, and the constraints hold."""
        missing = [axis for axis in self.axes if axis not in sizes]
        if missing:
            raise UsageError(f"a case gives no size to the axes {missing}", f"it gives {sizes}")
        for constraint in self.constraints:
            if not eval(constraint, {"__builtins__": {}}, dict(sizes)):  # noqa: S307 the author's own
                raise UsageError(f"a case breaks {constraint!r}", f"its sizes are {dict(sizes)}")
