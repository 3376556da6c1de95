"""Definition: a computation, in the JSON that flashinfer-bench and its datasets use."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from fictl.errors import InvalidValue
from fictl.syntax import parse_expression, parse_module
from fictl.trace.documents.axis import Axis, AxisConst, AxisExpr, AxisVar
from fictl.trace.documents.call_arguments import merged
from fictl.trace.documents.part import Name, Part, Title
from fictl.trace.documents.reading import read_document
from fictl.trace.documents.sizes import check_constraints, computed_axes, equations_of, shapes_of
from fictl.trace.documents.tensor_spec import TensorSpec, is_digits, torch_dtype
from fictl.trace.expression import Number, names_in

if TYPE_CHECKING:
    import torch

API_TAG = "fi_api:"
# Larger than any definition, and small enough to read into memory.
_LARGEST_FILE = 4 << 20
Shape = tuple[int, ...] | None


def _condition(text: str) -> str:
    """Refuse an expression that cannot be false; the format allows any other Python."""
    parsed = _python(text.strip(), "eval")
    is_not = isinstance(parsed, ast.UnaryOp) and isinstance(parsed.op, ast.Not)
    if not is_not and not isinstance(parsed, _CONDITIONS):
        raise ValueError("not a condition: it cannot be false")
    return text


_CONDITIONS = (
    ast.Compare,
    ast.BoolOp,
    ast.Call,
    ast.IfExp,
    ast.Attribute,
    ast.Subscript,
)
Constraint: TypeAlias = Annotated[str, AfterValidator(_condition)]


class Definition(Part):
    """A computation at these constant sizes and dtypes. Inputs are in the order of the call.

    SOL-ExecBench leaves out `op_type`, and names a function of the reference that generates inputs.
    """

    name: Title
    description: str | None = None
    op_type: Title = "other"
    tags: tuple[str, ...] = ()
    axes: dict[Name, Axis]
    constraints: tuple[Constraint, ...] = ()
    inputs: Annotated[dict[Name, TensorSpec], Field(min_length=1)]
    outputs: Annotated[dict[Name, TensorSpec], Field(min_length=1)]
    reference: str = Field(min_length=1)
    init: str | None = None
    custom_inputs_entrypoint: str | None = None

    @field_validator("op_type", "tags", "constraints", mode="before")
    @classmethod
    def _null_is_unsaid(cls, value: Any, info: ValidationInfo) -> Any:
        field = cls.model_fields[str(info.field_name)]
        return field.default if value is None else value

    @field_validator("reference")
    @classmethod
    def _defines_run(cls, value: str) -> str:
        if "run" not in _functions(value):
            raise ValueError("there is no top-level function run")
        return value

    @model_validator(mode="after")
    def _names_are_declared(self) -> Definition:
        for name, spec in [*self.inputs.items(), *self.outputs.items()]:
            unknown = [a for a in spec.shape or () if a not in self.axes and not is_digits(a)]
            if unknown:
                raise ValueError(f"{name} has the unknown axes {unknown}")
        for name, axis in self.expr_axes.items():
            if unknown := sorted(names_in(axis.expression) - {*self.axes}):
                raise ValueError(f"the axis {name} needs the unknown axes {unknown}")
        entry = self.custom_inputs_entrypoint
        if entry is not None and entry not in _functions(self.reference):
            raise ValueError(
                f"the reference has no top-level function {entry!r} to generate inputs"
            )
        return self

    @property
    def api(self) -> str:
        """Function that it defines, as in my_kernels.ops.rmsnorm; or ''."""
        tagged = [tag for tag in self.tags if tag.startswith(API_TAG)]
        return tagged[0].removeprefix(API_TAG) if tagged else ""

    @cached_property
    def const_axes(self) -> dict[str, int]:
        return {n: axis.value for n, axis in self.axes.items() if isinstance(axis, AxisConst)}

    @cached_property
    def var_axes(self) -> list[str]:
        return [name for name, axis in self.axes.items() if isinstance(axis, AxisVar)]

    @cached_property
    def expr_axes(self) -> dict[str, AxisExpr]:
        return {name: axis for name, axis in self.axes.items() if isinstance(axis, AxisExpr)}

    @cached_property
    def var_axes_bindings(self) -> dict[str, tuple[str, int]]:
        """Variable axes with the first input, and its dimension, that has their size."""
        bindings: dict[str, tuple[str, int]] = {}
        for name, spec in self.inputs.items():
            for dimension, axis in enumerate(spec.shape or ()):
                if axis in self.var_axes:
                    bindings.setdefault(axis, (name, dimension))
        return bindings

    def sizes(
        self, axes: Mapping[str, int], scalars: Mapping[str, Number] | None = None
    ) -> dict[str, int]:
        """Sizes of all axes, from the variable ones in `axes`; checks the constraints.

        A constraint on the contents of tensors, or on a scalar not in `scalars`, is not checked.
        """
        known = self._known(axes, scalars or {})
        check_constraints(self.name, self.constraints, {**known, **(scalars or {})})
        return known

    def get_axes_values(
        self, input_shapes: Iterable[Shape], scalars: Mapping[str, Number] | None = None
    ) -> dict[str, int]:
        """Sizes of the variable axes, from the shapes of the inputs; None stands for a number.

        An axis that no input has is computed from a constraint.
        """
        sizes: dict[str, int] = {}
        for (name, spec), shape in zip(self.inputs.items(), input_shapes, strict=False):
            if spec.shape is None or shape is None:
                continue
            if len(spec.shape) != len(shape):
                raise InvalidValue(
                    f"{name} has {len(shape)} dimensions: {tuple(shape)}",
                    f"{self.name} has {len(spec.shape)}: {', '.join(spec.shape)}",
                )
            for axis, size in zip(spec.shape, shape, strict=True):
                expected = self._fixed(axis, sizes)
                if sizes.setdefault(axis, size) != size or expected not in (size, None):
                    raise InvalidValue(
                        f"{name} has the size {size} in the axis {axis} of {self.name}",
                        f"it is {sizes[axis] if expected is None else expected}",
                    )
        variable = {axis: size for axis, size in sizes.items() if axis in self.var_axes}
        if len(variable) < len(self.var_axes):
            variable = self._known(variable, scalars or {})
        return {axis: variable[axis] for axis in self.var_axes}

    def get_axes_values_from_inputs(self, inputs: Iterable[Any]) -> dict[str, int]:
        """Sizes of the variable axes, from the values of a call."""
        values = dict(zip(self.inputs, inputs, strict=False))
        shapes = [tuple(v.shape) if hasattr(v, "shape") else None for v in values.values()]
        numbers = {n: v for n, v in values.items() if isinstance(v, bool | int | float)}
        return self.get_axes_values(shapes, numbers)

    def get_input_shapes(self, axes: Mapping[str, int] | None = None) -> list[Shape]:
        """Shapes in the order of the inputs; None for a number."""
        return shapes_of(self.inputs.values(), self._known(axes or {}, {}))

    def get_output_shapes(self, axes: Mapping[str, int] | None = None) -> list[Shape]:
        """Shapes in the order of the outputs; None for a number."""
        return shapes_of(self.outputs.values(), self._known(axes or {}, {}))

    @property
    def torch_input_dtypes(self) -> list[torch.dtype]:
        return [torch_dtype(spec.dtype) for spec in self.inputs.values()]

    @property
    def torch_output_dtypes(self) -> list[torch.dtype]:
        return [torch_dtype(spec.dtype) for spec in self.outputs.values()]

    def merge_kwargs_to_args(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        """Arguments by position: inputs, then outputs if they are given."""
        names = [*self.inputs, *self.outputs]
        return merged(self.name, names, args, kwargs) if kwargs else args

    def to_dict(self) -> dict[str, Any]:
        """Document without fields that have no value; `shape` is null for numbers."""
        document = self.model_dump(mode="json")
        if not self.constraints:
            del document["constraints"]
        return document

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, path: Path) -> Definition:
        """Read a file; NotReadable names what is wrong with it."""
        return read_document(cls, path, _LARGEST_FILE, "fictl trace export writes definitions")

    @cached_property
    def _equations(self) -> dict[str, str]:
        return equations_of(self.constraints)

    def _known(self, axes: Mapping[str, int], scalars: Mapping[str, Number]) -> dict[str, int]:
        return computed_axes(self.name, self.axes, axes, self._equations, scalars)

    def _fixed(self, axis: str, sizes: Mapping[str, int]) -> int | None:
        return int(axis) if is_digits(axis) else self.const_axes.get(axis)


def _functions(code: str) -> set[str]:
    tree = _python(code, "exec")
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def _python(text: str, mode: Literal["eval", "exec"]) -> Any:
    try:
        return parse_expression(text) if mode == "eval" else parse_module(text)
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"not valid Python: {getattr(error, 'message', error)}") from None
