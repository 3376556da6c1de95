"""Calls of one op as calls of definitions: the name, the inputs in order, the outputs to write."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from fictl.errors import FictlError
from fictl.op import Op
from fictl.op.watch.call import planned
from fictl.trace import Definition, Tensor, TraceTemplate
from fictl.trace.describe import definition, definition_name
from fictl.trace.extract import axis_sizes, dtypes

# Parameters that select how an op runs, not what it computes.
_HOW = ("enable_pdl",)
MOST_KINDS = 4096
_PLAIN = frozenset({torch.Tensor, torch.nn.Parameter})
_BY_KIND = frozenset({float, list, tuple, dict})


@dataclass(frozen=True)
class OpCall:
    """One kind of call. `why` says why it is of no definition; then the rest is empty.

    `other` names a parameter that no definition has, with a value of its own: tracing leaves it
    out, and apply leaves the call to the op.
    """

    why: str = ""
    definition: Definition | None = None
    axes: Mapping[str, int] | None = None
    inputs: tuple[tuple[str, str, int], ...] = ()
    outputs: tuple[tuple[str, str, int], ...] = ()
    leading: Mapping[str, tuple[int, ...]] | None = None
    returned: tuple[str, ...] = ()
    other: str = ""

    def input_values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the inputs by the definition's names, several leading dimensions as one."""
        return {name: _merged(values[parameter], extra) for name, parameter, extra in self.inputs}

    def given_outputs(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tensors that the caller wants written, by output."""
        return {name: _merged(values[parameter], extra) for name, parameter, extra in self.outputs}


class OpCalls:
    """All calls of one op; a kind of call is described once."""

    def __init__(self, op: Op, function: Callable[..., Any]) -> None:
        self.op = op
        signature = inspect.signature(function)
        names = [*signature.parameters]
        self.is_method = names[:1] == ["self"]
        self.parameters = dict(signature.parameters)
        self.names = names[1:] if self.is_method else names
        self._returns = str(signature.return_annotation)
        self._planned: dict[str, inspect.Parameter] = {}
        self._kinds: dict[tuple[Any, ...], OpCall] = {}
        self._definitions: dict[str, Definition] = {}

    def values(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments by parameter; those of plan() come first."""
        own = args[1:] if self.is_method else args
        values = dict(zip(self.names, own, strict=False))
        if kwargs:
            values.update(kwargs)
        if not self.is_method:
            return values
        if not self._planned and hasattr(args[0], "plan"):
            self._planned = dict(inspect.signature(args[0].plan).parameters)
        return {**planned(args[0]), **values}

    def describe(self, values: Mapping[str, Any]) -> OpCall:
        """Describe a call; the same object for calls of one kind."""
        try:
            key = (len(values), *map(_kind, values.values()))
            call = self._kinds.get(key)
        except TypeError:  # An argument that has no hash.
            return self._described(values)
        if call is None:
            if len(self._kinds) >= MOST_KINDS:
                self._kinds.clear()
            call = self._kinds[key] = self._described(values)
        return call

    def _described(self, values: Mapping[str, Any]) -> OpCall:
        try:
            template = self.op.template
            sizes, elements = axis_sizes(template, values), dtypes(template, values)
            name = definition_name(template, self.op.api, sizes, elements)
            if name not in self._definitions:
                self._definitions[name] = definition(template, self.op.api, sizes, elements)
        except FictlError as error:
            return OpCall(why=error.message)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            return OpCall(why=f"its arguments are not those of its trace: {error}")
        return self._of(template, self._definitions[name], sizes, values)

    def _of(
        self,
        template: TraceTemplate,
        of: Definition,
        sizes: Mapping[str, int],
        values: Mapping[str, Any],
    ) -> OpCall:
        inputs = tuple(
            (name, parameter, _extra(template.inputs[name], values[parameter]))
            for name in of.inputs
            for parameter in (template.parameter(name),)
        )
        outputs = tuple(
            (name, name, _extra(spec, values[name]))
            for name, spec in template.outputs.items()
            if isinstance(values.get(name), torch.Tensor)
        )
        axes = {axis: sizes[axis] for axis in of.var_axes}
        leading = {
            spec.axes[0]: tuple(values[parameter].shape[: extra + 1])
            for name, parameter, extra in inputs
            for spec in (template.inputs[name],)
            if extra and isinstance(spec, Tensor) and spec.axes
        }
        known = {parameter for _, parameter, _ in inputs} | {*template.outputs, *template.axes}
        return OpCall(
            "",
            of,
            axes,
            inputs,
            outputs,
            {
                name: leading[spec.axes[0]]
                for name, spec in template.outputs.items()
                if spec.axes and spec.axes[0] in leading
            },
            self._returned(template),
            self._other(values, known),
        )

    def _other(self, values: Mapping[str, Any], known: set[str]) -> str:
        """Name a parameter beside the trace's whose value is not its default."""
        seen = {value.dtype for value in values.values() if isinstance(value, torch.Tensor)}
        for name, value in values.items():
            if name in known or name in _HOW or (isinstance(value, torch.dtype) and value in seen):
                continue
            parameter = self.parameters.get(name) or self._planned.get(name)
            default = parameter.default if parameter else None
            if value is not default and (isinstance(value, torch.Tensor) or value != default):
                return name
        return ""

    def _returned(self, template: TraceTemplate) -> tuple[str, ...]:
        """Name the outputs that the op returns, by its annotation."""
        outputs = [*template.outputs]
        if self._returns == "None":
            return ()
        parameters = {template.parameter(name) for name in template.inputs}
        computed = [name for name in outputs if name not in parameters]
        count = _count(self._returns)
        return tuple(computed if count in (0, len(computed)) else outputs)


def _kind(value: Any) -> Any:
    """Return all of a value that a description may depend on."""
    kind = type(value)
    if kind in _PLAIN:
        return value.shape, value.dtype
    return kind if kind in _BY_KIND else value


def _extra(spec: Any, value: Any) -> int:
    """Return how many dimensions a tensor has beyond those of its trace."""
    return max(0, value.dim() - len(spec.axes)) if isinstance(spec, Tensor) and spec.axes else 0


def _merged(value: Any, extra: int) -> Any:
    if not extra or not value.is_contiguous():
        return value
    return value.view(-1, *value.shape[extra + 1 :])


def _count(annotation: str) -> int:
    """Return how many values an annotation says; 0 if it does not say."""
    try:
        node = ast.parse(annotation, mode="eval").body
    except SyntaxError:
        return 0
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        return len(node.slice.elts)
    return 0 if isinstance(node, ast.BinOp) else 1
