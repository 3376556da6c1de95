"""Sizes of axes as C++ and Python expressions, and the conditions on shapes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from fictl.scaffold.new.signature import Signature, Tensor

_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Sizes:
    """Sizes of one op. `x.size(1)` is the hidden size if x is the first input that has it."""

    signature: Signature

    @cached_property
    def alike(self) -> bool:
        """True if all tensors have one shape, which then may be any."""
        tensors = (*self.signature.inputs, *self.signature.outputs)
        return len({tensor.axis_names for tensor in tensors}) == 1

    @cached_property
    def _places(self) -> dict[str, tuple[str, int]]:
        first_places: dict[str, tuple[str, int]] = {}
        for tensor in self.signature.inputs:
            for dim, name in enumerate(tensor.axis_names):
                first_places.setdefault(name, (tensor.name, dim))
        return first_places

    @property
    def count(self) -> str:
        return f"{self.signature.outputs[0].name}.numel()"

    @property
    def rows(self) -> str:
        """Number of rows written, or of values if each row gives one."""
        out = self.signature.outputs[0]
        if not self._writes_rows:
            return self.count
        return " * ".join(f"{out.name}.size({dim})" for dim in range(len(out.axes) - 1))

    @property
    def row_axes(self) -> tuple[str, ...]:
        """Axes that count the rows; none where each element of the output is one."""
        return self.signature.outputs[0].axis_names[:-1] if self._writes_rows else ()

    @property
    def row(self) -> str:
        """The axis along a row: of the output, or of what is reduced to it."""
        out, longest = self.signature.outputs[0], max(self.signature.inputs, key=_rank)
        return (out if self._writes_rows else longest).axis_names[-1]

    @property
    def _writes_rows(self) -> bool:
        out = self.signature.outputs[0]
        return _rank(out) > 1 and _rank(out) >= max(map(_rank, self.signature.inputs))

    def cpp(self, axis: str) -> str:
        return self._of(axis, "{}.size({})").replace(" // ", " / ")

    def py(self, axis: str) -> str:
        return self._of(axis, "{}.shape[{}]")

    def _of(self, axis: str, form: str) -> str:
        if axis in self._places:
            return form.format(*self._places[axis])
        named = next(candidate for candidate in self.signature.axes if candidate.name == axis)
        if named.size:
            return str(named.size)
        axes = {*self._places}
        return _NAME.sub(
            lambda m: form.format(*self._places[m[0]]) if m[0] in axes else m[0],
            ast.unparse(ast.parse(named.text)),
        )

    def checks(self) -> Iterator[tuple[str, int, str, str]]:
        """(tensor, dimension, axis, the size in C++ that it must have)."""
        fixed = {axis.name: axis.size for axis in self.signature.axes if axis.size}
        for tensor in (*self.signature.inputs, *self.signature.outputs):
            for dim, name in enumerate(tensor.axis_names):
                if name in fixed:
                    yield tensor.name, dim, name, str(fixed[name])
                elif self._places.get(name) != (tensor.name, dim):
                    yield tensor.name, dim, name, self.cpp(name)

    def like(self, tensor: Tensor) -> str:
        """The input of an output's shape and dtype, or empty."""
        return next(
            (
                other.name
                for other in self.signature.inputs
                if other.axis_names == tensor.axis_names and other.dtype == tensor.dtype
            ),
            "",
        )

    def shape(self, tensor: Tensor) -> str:
        """Shape of an output as Python text."""
        sizes = [self.py(name) for name in tensor.axis_names]
        return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"


def _rank(tensor: Tensor) -> int:
    return len(tensor.axes)
