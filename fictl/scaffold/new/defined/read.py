"""A Definition as the command line would say it, with the reference as the trace will hold it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fictl.dtype import DTYPES, parse_dtype
from fictl.errors import UsageError
from fictl.scaffold.new import names
from fictl.scaffold.new.signature import Scalar
from fictl.trace import AxisConst, AxisExpr, Definition, TensorSpec
from fictl.trace.documents.tensor_spec import torch_name

_EQUATION = re.compile(r"\s*([A-Za-z_]\w*)\s*==\s*([^=].*?)\s*")
_PYTHON = re.compile(r"\b(?:and|or|not|in|if|min|max)\b|%|<|>|(?<!/)/(?!/)")
_EPS = re.compile(r"(^|_)eps(ilon)?$")


@dataclass(frozen=True)
class Defined:
    """`path` is its file. Arguments that C++ or the generated files mean otherwise are renamed."""

    path: Path
    definition: Definition

    @classmethod
    def read(cls, path: Path) -> Defined:
        defined = cls(path, Definition.read(path))
        defined._check()
        return defined

    @property
    def name(self) -> str:
        """Default name of the op: that of the function that the definition describes."""
        definition = self.definition
        return _lower(definition.api.rpartition(".")[2] or definition.name)

    @property
    def family(self) -> str:
        return _lower(self.definition.op_type)

    @property
    def doc(self) -> str:
        first = (self.definition.description or "").strip().partition("\n")[0]
        return first.replace('"', "'").replace("\\", "/") or f"What {self.definition.name} says"

    @property
    def tensors(self) -> dict[str, TensorSpec]:
        return {n: spec for n, spec in self.definition.inputs.items() if spec.shape is not None}

    @property
    def inputs(self) -> tuple[str, ...]:
        """Inputs as --input takes them."""
        return tuple(self._tensor(self.argument(n), spec) for n, spec in self.tensors.items())

    @property
    def outputs(self) -> tuple[str, ...]:
        definition = self.definition.outputs.items()
        return tuple(self._tensor(self.output(n), spec, follows=True) for n, spec in definition)

    @property
    def scalars(self) -> tuple[str, ...]:
        numbers = (n for n in self.definition.inputs if n not in self.tensors)
        return tuple(str(self.scalar(name)) for name in numbers)

    def scalar(self, name: str) -> Scalar:
        dtype = self.definition.inputs[name].dtype
        kind = "bool" if dtype == "bool" else "int" if "int" in dtype else "float"
        default = 1e-6 if kind == "float" and _EPS.search(name) else None
        return Scalar(self.argument(name), kind, default)

    @property
    def dtype(self) -> str:
        """The case's: of the first tensor that holds numbers with a fraction, else of the first."""
        dtypes = [torch_name(spec.dtype) for spec in self.tensors.values()]
        return next((dtype for dtype in dtypes if "float" in dtype), dtypes[0])

    def argument(self, name: str) -> str:
        return self._renamed.get(name, name)

    def output(self, name: str) -> str:
        """Name of an output; one that the definition writes in place is a result of its own here."""
        own_name = self._renamed.get(name, name)
        return f"{own_name}_out" if name in self.definition.inputs else own_name

    @property
    def renamed(self) -> Mapping[str, str]:
        """Inputs that have another name here than in the definition."""
        return {n: new for n, new in self._renamed.items() if n in self.definition.inputs}

    @cached_property
    def expressions(self) -> dict[str, str]:
        """The axes that follow from others, and how: an equation among the constraints says so."""
        renamed = {
            name: axis.expression
            for name, axis in self.definition.axes.items()
            if isinstance(axis, AxisExpr)
        }
        for text in self.definition.constraints:
            match = _EQUATION.fullmatch(text)
            if match and match[1] in self.definition.var_axes and match[1] not in renamed:
                renamed[match[1]] = match[2]
        return renamed

    @property
    def constraints(self) -> tuple[str, ...]:
        rules = {f"{name} == {text}" for name, text in self.expressions.items()}
        return tuple(text for text in self.definition.constraints if text not in rules)

    @property
    def free(self) -> list[str]:
        """The axes whose sizes a case gives."""
        return [name for name in self.definition.var_axes if name not in self.expressions]

    @cached_property
    def _renamed(self) -> dict[str, str]:
        taken = {*self.definition.inputs, *self.definition.outputs}
        renamed: dict[str, str] = {}
        for name in (*self.definition.inputs, *self.definition.outputs):
            if not is_free(name):
                tries = (names.snake(name), *(f"{names.snake(name) or 'x'}_{s}" for s in _SUFFIXES))
                free = (trie for trie in tries if trie not in taken and is_free(trie))
                renamed[name] = next(free)
                taken.add(renamed[name])
        return renamed

    def _tensor(self, name: str, spec: TensorSpec, follows: bool = False) -> str:
        axes = ",".join(self._axes(spec, follows))
        dtype = torch_name(spec.dtype)
        return f"{name}:{axes}" + ("" if dtype == self.dtype else f":{parse_dtype(dtype).short}")

    def _axes(self, spec: TensorSpec, follows: bool) -> Iterator[str]:
        """`follows`: of what is written, where an axis that no input has is said by its size."""
        there = {axis for tensor in self.tensors.values() for axis in tensor.shape or ()}
        for axis in spec.shape or ():
            known_axis = self.definition.axes.get(axis)
            if isinstance(known_axis, AxisConst):
                yield f"{axis}={known_axis.value}"
            elif axis.isdecimal():
                yield f"size_{axis}={axis}"
            elif follows and axis not in there and axis in self.expressions:
                yield f"{axis}={self._computed(axis)}"
            elif follows and axis not in there and axis in self.definition.inputs:
                yield f"{axis}={self.argument(axis)}"
            else:
                yield axis

    def _computed(self, axis: str) -> str:
        """Expression of an axis, in syntax that Python and C++ share."""
        text = self.expressions[axis]
        beyond = _PYTHON.search(text)
        if beyond:
            raise UsageError(
                f"{self.path}: the size of {axis} is {text!r}, and {beyond[0]} means another thing "
                "in C++",
                "give the op an input that has this axis, or write it by + - * // alone",
            )
        return text

    def _check(self) -> None:
        definition = self.definition
        if not self.tensors:
            raise UsageError(
                f"{self.path}: {definition.name} takes no tensor", "an op has one at least"
            )
        for name, spec in [*self.tensors.items(), *definition.outputs.items()]:
            if not spec.shape:
                raise UsageError(
                    f"{self.path}: {name} is a tensor without axes",
                    "give it an axis of size 1 in the definition",
                )
            if torch_name(spec.dtype) not in DTYPES:
                raise UsageError(f"{self.path}: {name} is {spec.dtype}, which no kernel here takes")
        empty = [n for n, size in definition.const_axes.items() if size < 1]
        if empty:
            raise UsageError(f"{self.path}: the axis {empty[0]} has the size 0")
        for axis in definition.axes:
            names.check_axis(axis)


_SUFFIXES = ("in", "value", "argument")


def is_free(name: str) -> bool:
    """Tell if an argument can have this name."""
    try:
        names.check_parameter(name)
    except UsageError:
        return False
    return True


def _lower(text: str) -> str:
    """Lower-case a name, unless it can name a folder as it is."""
    plain = re.sub(r"\W", "_", text)
    return plain if re.fullmatch(r"[a-z][a-z0-9_]*", plain) else names.snake(plain)
