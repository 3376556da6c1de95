"""Brought: a kernel with an op's arguments paired to its parameters, as templates see it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fictl.dtype import DType
from fictl.scaffold.new.brought.edge_sizes import edge_sizes, usual_sizes
from fictl.scaffold.new.brought.header import header
from fictl.scaffold.new.brought.kernel_source import KernelParameter, KernelSource
from fictl.scaffold.new.brought.launch import KernelLaunch
from fictl.scaffold.new.brought.roles import Roles
from fictl.scaffold.new.brought.sizes import Sizes
from fictl.scaffold.new.expression import Expression
from fictl.scaffold.new.signature import Scalar, Signature, Tensor

_NARROW = ("int", "int32_t", "std::int32_t", "unsigned", "unsigned int", "uint32_t")
_HEAVY = ("cub/", "thrust/", "cooperative_groups", "cuda/", "cute/", "cutlass/")
_ONLY_CUDA = re.compile(r"\basm\b|\bnvcuda::|\bwmma::")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)


@dataclass(frozen=True)
class Brought:
    """`dtypes` are those that the kernel is written for; empty where its template takes any.
    `launch` is None where a host function launches it.
    """

    source: KernelSource
    signature: Signature
    roles: Roles
    expression: Expression | None
    dtypes: tuple[DType, ...]
    launch: KernelLaunch | None = None

    @property
    def devices(self) -> str:
        """Devices it runs on: GPUs only, where the emulated device lacks its instructions or headers."""
        return "cuda" if self.heavy or _ONLY_CUDA.search(self.source.text) else "cuda emu"

    @property
    def heavy(self) -> list[str]:
        includes = _INCLUDE.findall(self.source.text)
        return [item for item in includes if item.startswith(_HEAVY)]

    @property
    def jit_file(self) -> str:
        """The name of its jit.py; empty where the default says all, and no heavy header is named."""
        return "jit.py" if self.heavy else ""

    def context(self, project: str, family: str) -> dict[str, Any]:
        """Variables of its templates, beside those of every kind."""
        return {
            "brought": self,
            "header": header(self.source, f"{project}::{family}"),
            "sizes": Sizes(self.signature),
            "case": self.case,
            "untied": self.untied,
            "launch": self.launch,
            "edge_sizes": edge_sizes(self.signature),
            "usual_sizes": usual_sizes(self.signature),
            "entry": self._entry(f"{project}::{family}"),
            "arguments": [self._argument(parameter) for parameter in self.source.parameters],
        }

    @property
    def case(self) -> Tensor:
        """The tensor whose dtype is the case's."""
        return next(tensor for tensor in self.signature.inputs if not tensor.dtype)

    @property
    def untied(self) -> Tensor | None:
        """The input whose values have to differ along a row, for outputs that are indices into it:
        of equal values either index is right.
        """
        whole = any("int" in tensor.dtype for tensor in self.signature.outputs)
        floating = not self.dtypes or all("float" in dtype.name for dtype in self.dtypes)
        return self.case if whole and floating else None

    @property
    def any_shape(self) -> bool:
        """True if it sees its tensors as a number of elements."""
        alike = Sizes(self.signature).alike and not self.roles.axes
        return alike and not (self.launch and self.launch.unit.per_row)

    @property
    def words(self) -> str:
        return f"{self.source.function.name} of {self.source.path.name}"

    @property
    def counts(self) -> bool:
        """True if it counts with ints, which end at 2^31 - 1."""
        sizes = {*self.roles.axes, *self.roles.counts}
        return any(p.name in sizes and p.type in _NARROW for p in self.source.parameters)

    def _entry(self, namespace: str) -> str:
        function = self.source.function
        elsewhere = function.scope not in ("", f"{namespace}::")
        arguments = f"<{', '.join(self.source.arguments)}>" if self.source.arguments else ""
        return f"{f'::{function.scope}' if elsewhere else ''}{function.name}{arguments}"

    def _type(self, parameter: KernelParameter) -> str:
        """T where it is what dtypes are tried for."""
        of_case = parameter.role == "pointer" and parameter.dtype in self.dtypes
        return "T" if of_case or parameter.type == self.source.element else parameter.type

    def _argument(self, parameter: KernelParameter) -> str:
        name, kind = parameter.name, self._type(parameter)
        if parameter.role == "pointer":
            tensor = self.roles.tensors[name]
            return f"{tensor.name}.data<{'const ' if parameter.is_const else ''}{kind}>()"
        if parameter.role == "stream":
            return "launch.stream"
        if name in self.roles.scalars:
            return _number(self.roles.scalars[name], kind)
        sizes = Sizes(self.signature)
        size = sizes.count if name in self.roles.counts else sizes.cpp(self.roles.axes[name])
        if kind == "int64_t":
            return size
        if kind in _NARROW:
            return f'as_int(launch, "{self.roles.axes.get(name, "numel")}", {size})'
        return f"static_cast<{kind}>({size})"


def _number(scalar: Scalar, kind: str) -> str:
    if kind == "T":
        return f"device::Element<T>::from_float(static_cast<float>({scalar.name}))"
    if kind in ("half", "__half", "__nv_bfloat16"):
        return f"device::Element<{kind}>::from_float(static_cast<float>({scalar.name}))"
    return scalar.name if kind == scalar.cpp else f"static_cast<{kind}>({scalar.name})"
