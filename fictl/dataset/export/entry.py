"""main.py of an op's solution: takes a definition's inputs and calls the op with them."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fictl.case.definitions import Traced
from fictl.case.parameters import flat_parameters
from fictl.scaffold.kinds.wrap import py, py_literal
from fictl.trace import Const, Definition, Expr

FILE, FUNCTION = "main.py", "run"


@dataclass(frozen=True)
class Entry:
    """The entry function for one definition of a public function."""

    traced: Traced
    definition: Definition

    @property
    def passes_destinations(self) -> bool:
        """Tell whether the caller can allocate all outputs: each is a parameter, and none is an
        input.
        """
        return not self._is_class and all(
            name in self._parameters and name not in self.definition.inputs
            for name in self.definition.outputs
        )

    def text(self) -> str:
        names = [*self.definition.inputs]
        names += [*self.definition.outputs] if self.passes_destinations else []
        head = py(f"def {FUNCTION}(", names, "):")
        body = "\n".join(self._body())
        return f"{self._opening}\n\n\n{head}\n{body}\n"

    @property
    def _opening(self) -> str:
        folder = self.traced.folder
        doc = f'"""{self.traced.op.api} as a solution: the copy of its sources beside this file runs."""'
        imports = ["from fictl.op.bound import bind"] if self._is_class else []
        imports += ["import torch"] if self._allocated else []
        own = f"from .kernels.{folder.family}.{folder.module}.op import {self.traced.name}"
        return "\n".join([doc, "", *imports, *([""] if imports else []), own])

    def _body(self) -> Iterator[str]:
        if self._is_class:
            yield from self._planned()
            return
        for name in self._allocated:
            yield f"    {name} = {self._empty(name)}"
        arguments = [f"{name}={value}" for name, value in self._arguments().items()]
        outputs = [*self.definition.outputs]
        allocated = [n for n in outputs if n not in (*self.definition.inputs, *self._allocated)]
        if self.passes_destinations or not allocated:
            yield py(f"    {self.traced.name}(", arguments, ")")
        elif len(allocated) < len(outputs) and self._returned == len(allocated):
            yield py(f"    {', '.join(allocated)} = {self.traced.name}(", arguments, ")")
        else:
            yield py(f"    return {self.traced.name}(", arguments, ")")
            return
        if not self.passes_destinations:
            yield f"    return {', '.join(outputs)}"

    def _planned(self) -> Iterator[str]:
        """Lines that plan in every call, as the values behind a plan may differ between calls."""
        inputs = [f'"{name}": {value}' for name, value in self._inputs().items()]
        yield py_literal("    inputs = {", inputs, "}")
        yield f"    plan, launch = bind({self.traced.name}, inputs)"
        yield "    plan()"
        yield "    return launch()"

    @property
    def _returned(self) -> int:
        """Number of values in the function's return annotation."""
        annotation = str(inspect.signature(self._api).return_annotation)
        node = ast.parse(annotation, mode="eval").body
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
            return len(node.slice.elts)
        return 1

    def _arguments(self) -> dict[str, str]:
        given = {n: v for n, v in self._inputs().items() if v != "None" or self._is_needed(n)}
        room = self.definition.outputs if self.passes_destinations else self._allocated
        return {**given, **{name: name for name in room}}

    def _inputs(self) -> dict[str, str]:
        """Arguments by parameter, for the inputs that the definition has."""
        template, there = self.traced.template, self.definition.inputs
        return {
            template.parameter(name): name if name in there else "None" for name in template.inputs
        }

    @property
    def _allocated(self) -> list[str]:
        """Outputs that the op requires the caller to allocate."""
        if self.passes_destinations or self._is_class:
            return []
        outputs = (name for name in self.definition.outputs if name not in self.definition.inputs)
        return [name for name in outputs if self._is_needed(name)]

    def _empty(self, name: str) -> str:
        spec = self.traced.template.outputs[name]
        shape = ", ".join(self._size(axis) for axis in spec.axes)
        dtype = "float4_e2m1fn_x2" if "float4" in (d := self._dtype(name)) else d
        of = next(n for n, given in self.definition.inputs.items() if given.shape is not None)
        comma = "," * (len(spec.axes) == 1)
        return f"torch.empty(({shape}{comma}), dtype=torch.{dtype}, device={of}.device)"

    def _dtype(self, name: str) -> str:
        return str(self.definition.outputs[name].dtype)

    def _size(self, axis: str) -> str:
        """Expression in Python for an axis's size, from the inputs."""
        declared = self.traced.template.axes[axis]
        constant = self.definition.const_axes.get(axis)
        if constant is not None:
            return str(constant)
        for name, spec in self.definition.inputs.items():
            if axis in (spec.shape or ()):
                return f"{name}.shape[{(spec.shape or ()).index(axis)}]"
        assert isinstance(declared, Expr | Const)
        text = declared.text if isinstance(declared, Expr) else str(declared.value)
        axes = self.traced.template.axes
        return re.sub(r"[A-Za-z_]\w*", lambda m: self._size(m[0]) if m[0] in axes else m[0], text)

    def _is_needed(self, parameter: str) -> bool:
        known = self._parameters.get(parameter)
        return known is not None and known.default is inspect.Parameter.empty

    @property
    def _is_class(self) -> bool:
        template = self.traced.template
        return template.bind is not None or inspect.isclass(self._api)

    @property
    def _parameters(self) -> Mapping[str, inspect.Parameter]:
        return flat_parameters(self._api)

    @property
    def _api(self) -> Any:
        return getattr(self.traced.folder.load("op"), self.traced.name)
