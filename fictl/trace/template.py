"""TraceTemplate: the axes, inputs, outputs and reference of one public function."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from fictl.errors import UsageError
from fictl.trace.expression import Malformed, Number, evaluate, names_in

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Var:
    """An axis whose size changes from call to call."""

    doc: str


@dataclass(frozen=True)
class Const:
    """An axis that a model fixes: a hidden size, a head dimension.

    `abbrev` stands for it in names of definitions; `value` is the only size it can have.
    """

    doc: str
    abbrev: str = ""
    value: int | None = None


@dataclass(frozen=True)
class Expr:
    """An axis whose size follows from others and from scalar inputs, as in 'rows * heads'."""

    text: str
    doc: str


@dataclass(frozen=True)
class Tensor:
    """A tensor over named axes, with the dtype of the case unless `dtype` or `dtype_from` is given.

    An `optional` one may be None; a case has it if it names it in `passing`. `param` is the
    parameter's name, if definitions use another name.
    """

    axes: tuple[str, ...]
    dtype: str = ""
    dtype_from: str = ""
    optional: bool = False
    doc: str = ""
    param: str = ""


@dataclass(frozen=True)
class Scalar:
    """A number passed by value, and the value that tests use."""

    dtype: str
    value: float | int | bool = 1
    doc: str = ""


Axis: TypeAlias = Var | Const | Expr
# (sizes, dtype, device, generator) -> the inputs that random numbers cannot be, by parameter.
Init: TypeAlias = (
    "Callable[[Mapping[str, int], torch.dtype, str, torch.Generator], dict[str, torch.Tensor]]"
)
Bind: TypeAlias = Callable[[dict[str, Any]], tuple[Callable[[], Any], Callable[[], Any]]]
# (sizes of all axes, inputs by parameter) -> what one call moves or computes.
Work: TypeAlias = Callable[[Mapping[str, int], Mapping[str, Any]], int]
# (inputs by parameter, as they were before the call; results by output) raises AssertionError.
Judge: TypeAlias = Callable[[Mapping[str, Any], Mapping[str, Any]], None]

# Two rounding steps of the format: one for the result, one for what the hardware may fuse.
TOLERANCES: Mapping[str, tuple[float, float]] = {
    "float64": (1e-12, 1e-12),
    "float32": (1e-5, 1e-6),
    "float16": (2e-3, 1e-4),
    "bfloat16": (1.6e-2, 1e-3),
    "float8_e4m3fn": (1.3e-1, 2e-2),
    "float8_e5m2": (2.5e-1, 2e-2),
    "float8_e8m0fnu": (1.0, 0.0),
}

# Values that tests use beside normal random ones. The first two suit every op; the others may
# overflow where terms cancel or a mask excludes values.
EXTREMES = ("zeros", "small", "large", "nonfinite")


@dataclass(frozen=True)
class TraceTemplate:
    """Declaration of one public function, with the names of its parameters.

    `reference` runs in fp64. `init` generates inputs that cannot be random (offsets, page tables).
    `validate` is called with the inputs by name and raises ValueError for invalid data. `bind`
    makes (plan, run) for a class whose constructor needs more arguments than the inputs. `extremes`
    names the values, of EXTREMES, for which the op computes what its reference does. `judge`
    replaces the comparison with the reference if several results are right (a draw, a choice among
    equals).

    `bytes` is given if the data decides (used pages, active experts); by default, every input is
    read and every output written. `flops` is what `fictl bench` computes TFLOP/s from. `at_default`
    names parameters that are not inputs: rare options that only the op's own tests use.
    """

    axes: Mapping[str, Axis]
    inputs: Mapping[str, Tensor | Scalar]
    outputs: Mapping[str, Tensor]
    reference: Callable[..., Any]
    constraints: tuple[str, ...] = ()
    tolerances: Mapping[str, tuple[float, float]] = field(default_factory=lambda: TOLERANCES)
    init: Init | None = None
    validate: Callable[..., None] | None = None
    bind: Bind | None = None
    judge: Judge | None = None
    extremes: tuple[str, ...] = EXTREMES[:2]
    bytes: Work | None = None
    flops: Work | None = None
    at_default: tuple[str, ...] = ()
    op_type: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        strange = [name for name in self.extremes if name not in EXTREMES]
        if strange:
            raise self._wrong(f"the unknown extremes {strange}", f"some of {', '.join(EXTREMES)}")
        for name, tensor in [*self.input_tensors(), *self.outputs.items()]:
            unknown = [axis for axis in tensor.axes if axis not in self.axes]
            if unknown:
                raise self._wrong(f"{name} has the unknown axes {unknown}", "add them")
            if tensor.dtype_from and tensor.dtype_from not in self.inputs:
                raise self._wrong(
                    f"{name} takes its dtype from {tensor.dtype_from!r}, which is not an input",
                    f"one of {', '.join(self.inputs)}",
                )
        for text in (*self.constraints, *self._expressions().values()):
            self._check_names(text)

    def input_tensors(self) -> Iterator[tuple[str, Tensor]]:
        return ((name, spec) for name, spec in self.inputs.items() if isinstance(spec, Tensor))

    def parameter(self, name: str) -> str:
        """Name of an input in the public function's signature."""
        return getattr(self.inputs[name], "param", "") or name

    def scalars(self) -> dict[str, Number]:
        """Values of scalar inputs that tests use."""
        return {n: spec.value for n, spec in self.inputs.items() if isinstance(spec, Scalar)}

    def check_sizes(
        self,
        sizes: Mapping[str, int],
        scalars: Mapping[str, Number] | None = None,
        absent: Collection[str] = (),
    ) -> dict[str, int]:
        """Sizes of all axes, with constants and expressions; checks the constraints.

        `absent`: axes that only omitted tensors have.
        """
        sizes = {axis: size for axis, size in sizes.items() if axis not in absent}
        values = {**self.scalars(), **(scalars or {}), **self._fixed(), **sizes}
        computed = self._expressions()
        missing = [name for name in self.axes if name not in {*values, *computed, *absent}]
        if missing:
            raise UsageError(f"a case gives no size to the axes {missing}", f"it gives {sizes}")
        decided = {
            **self._fixed(),
            **{n: evaluate(t, values) for n, t in computed.items() if not names_in(t) & {*absent}},
        }
        for name, size in decided.items():
            if values.setdefault(name, size) != size:
                raise UsageError(
                    f"a case gives {name} the size {values[name]}, which is {size}",
                    f"its sizes are {dict(sizes)}",
                )
        for text in self.constraints:
            if not names_in(text) & {*absent} and not evaluate(text, values):
                raise UsageError(f"a case breaks {text!r}", f"its sizes are {dict(sizes)}")
        return {name: int(values[name]) for name in self.axes if name in values}

    def elements(self, sizes: Mapping[str, int], passing: Collection[str] = ()) -> int:
        """Number of elements of all outputs and inputs; of optional inputs, those in `passing`."""
        absent = self.optional_axes(passing)
        known = self.check_sizes(sizes, absent=absent)
        inputs = [t for name, t in self.input_tensors() if not t.optional or name in passing]
        tensors = (*inputs, *self.outputs.values())
        return sum(math.prod(known[axis] for axis in tensor.axes) for tensor in tensors)

    def optional_axes(self, passed: Collection[str]) -> set[str]:
        """Axes that only optional inputs outside of `passed` have."""
        tensors = dict(self.input_tensors())
        left_out = {n for n, spec in tensors.items() if spec.optional and n not in passed}
        there = [spec for name, spec in tensors.items() if name not in left_out]
        used = {axis for spec in (*there, *self.outputs.values()) for axis in spec.axes}
        return {axis for name in left_out for axis in tensors[name].axes} - used

    def free_axes(self) -> list[str]:
        """Axes that are neither constant nor computed by an expression."""
        return [n for n in self.axes if n not in {*self._fixed(), *self._expressions()}]

    def _fixed(self) -> dict[str, int]:
        constants = {n: axis for n, axis in self.axes.items() if isinstance(axis, Const)}
        return {n: axis.value for n, axis in constants.items() if axis.value is not None}

    def _expressions(self) -> dict[str, str]:
        return {name: axis.text for name, axis in self.axes.items() if isinstance(axis, Expr)}

    def _check_names(self, text: str) -> None:
        known = {*self.axes, *self.scalars()}
        try:
            unknown = sorted(names_in(text) - known)
        except Malformed as error:
            raise self._wrong(error.message, error.hint) from None
        if unknown:
            raise self._wrong(
                f"{text!r} names {', '.join(map(repr, unknown))}",
                f"names are axes and scalar inputs: {', '.join(sorted(known))}",
            )

    def _wrong(self, problem: str, hint: str) -> UsageError:
        """Error that names the reference's place: a template does not know its own name."""
        code = getattr(self.reference, "__code__", None)
        place = f"{code.co_filename}:{code.co_firstlineno}: " if code else ""
        return UsageError(f"{place}trace: {problem}", hint)
