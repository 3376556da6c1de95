"""A kernel's file with all but the kernel: what it is given, how it is launched, where it goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fictl.dtype import parse_dtype
from fictl.scaffold.kinds.wrap import cpp
from fictl.scaffold.new.defined.read import Defined, is_free
from fictl.scaffold.new.names import title
from fictl.trace import TensorSpec
from fictl.trace.documents.tensor_spec import torch_name

_NUMBERS = {"float": "float", "int": "int64_t", "bool": "bool"}
# Of what generated files use for something else, none is in a kernel.
_FINE = ("rows", "row", "cols", "columns", "size", "N", "left", "block", "lanes", "pieces")
_EIGHT_BITS = ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn_x2")


@dataclass(frozen=True)
class Skeleton:
    """The kernel left to write, of the op that will be called `name`."""

    defined: Defined
    name: str

    @property
    def entry(self) -> str:
        return title(self.name)

    @property
    def flag(self) -> str:
        """Name of the constant that is false until the kernel is written."""
        return f"k{self.entry}Written"

    def text(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        definition, entry = self.defined.definition, self.entry
        yield f"// {self.name}: {self.defined.doc}"
        yield "//"
        yield f"// From the definition {definition.name}. To write: the body of {entry}Kernel, and how it is"
        yield f"// launched. Its reference, in torch, is in trace.py. Then {self.flag} is true."
        yield "//"
        yield from (f"//   {line}" for line in self._arguments())
        yield ""
        yield from (f"#include <fictl/device/{header}.cuh>" for header in self._headers())
        yield ""
        yield "namespace device = fictl::device;"
        yield ""
        yield f"constexpr bool {self.flag} = false;"
        yield f"constexpr int k{entry}Threads = 256;"
        for axis, size in definition.const_axes.items():
            yield f"constexpr int64_t k{entry}{_camel(axis)} = {size};"
        yield ""
        yield "template <typename T>"
        yield f"__global__ void __launch_bounds__(k{entry}Threads)"
        yield cpp(f"    {entry}Kernel(", self._parameters(), ") {")
        yield "  // Here, with device::widen(x) to compute in fp32 and device::narrow<T>(y) to round."
        yield "}"
        yield ""
        yield "// A block for each 256 values of the first output, until something better is known."
        yield "template <typename T>"
        yield cpp(f"cudaError_t {entry}(", [*self._parameters(), "cudaStream_t stream"], ") {")
        yield "  device::LaunchConfig config;"
        yield cpp(
            "  config.grid = dim3(device::ceil_div(", [self._count(), f"k{entry}Threads"], "));"
        )
        yield f"  config.block = dim3(k{entry}Threads);"
        yield "  config.stream = stream;"
        passed = ["config", *(parameter.rpartition(" ")[2] for parameter in self._parameters())]
        yield cpp(f"  return device::launch<{entry}Kernel<T>>(", passed, ");")
        yield "}"

    def _arguments(self) -> Iterator[str]:
        defined = self.defined
        for name, spec in defined.tensors.items():
            yield self._said(defined.argument(name), spec, "read")
        for name, spec in defined.definition.outputs.items():
            yield self._said(defined.output(name), spec, "written")

    def _said(self, name: str, spec: TensorSpec, does: str) -> str:
        return f"{name}: ({', '.join(spec.shape or ())}), contiguous, {spec.dtype}; {does}"

    def _parameters(self) -> list[str]:
        defined, definition = self.defined, self.defined.definition
        inputs = [
            f"const {self._cpp(s)}* {defined.argument(n)}" for n, s in defined.tensors.items()
        ]
        outputs = [f"{self._cpp(s)}* {defined.output(n)}" for n, s in definition.outputs.items()]
        scalars = (defined.scalar(n) for n in definition.inputs if n not in defined.tensors)
        numbers = [f"{_NUMBERS[scalar.type]} {scalar.name}" for scalar in scalars]
        return [*inputs, *outputs, *numbers, *(f"int64_t {name}" for name in self.sizes)]

    @property
    def sizes(self) -> dict[str, str]:
        """The kernel's names of axes that vary: all but those that are passed as numbers."""
        specs = (*self.defined.tensors.values(), *self.defined.definition.outputs.values())
        there = {axis for spec in specs for axis in spec.shape or ()}
        constants, inputs = self.defined.definition.const_axes, self.defined.definition.inputs
        axes = self.defined.definition.axes
        free = (a for a in axes if a in there and a not in {*constants, *inputs})
        return {self._name(axis): axis for axis in free}

    def _name(self, axis: str) -> str:
        """Its own, where that means nothing else in a kernel."""
        arguments = {self.defined.argument(name) for name in self.defined.definition.inputs}
        arguments |= {self.defined.output(name) for name in self.defined.definition.outputs}
        fine = axis in _FINE or is_free(axis)
        return axis if fine and axis not in arguments else f"{axis.lower()}_size"

    def _cpp(self, spec: TensorSpec) -> str:
        dtype = torch_name(spec.dtype)
        return "T" if dtype == self.defined.dtype else parse_dtype(dtype).cpp

    def _count(self) -> str:
        first = next(iter(self.defined.definition.outputs.values()))
        return " * ".join(self._size(axis) for axis in first.shape or ())

    def _size(self, axis: str) -> str:
        if axis.isdecimal():
            return axis
        fixed = axis in self.defined.definition.const_axes
        if fixed:
            return f"k{self.entry}{_camel(axis)}"
        return next((n for n, a in self.sizes.items() if a == axis), self.defined.argument(axis))

    def _headers(self) -> list[str]:
        specs = (*self.defined.tensors.values(), *self.defined.definition.outputs.values())
        small = any(torch_name(spec.dtype) in _EIGHT_BITS for spec in specs)
        return ["element", *(["element_fp8"] if small else []), "launch", "math"]


def _camel(axis: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in axis.split("_"))
