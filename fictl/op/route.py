"""The way of a call: straight to the FFI, or through torch.ops where torch has to see it."""

from __future__ import annotations

from collections.abc import Callable
from keyword import iskeyword
from typing import Any

import torch
from torch import is_grad_enabled as _grad
from torch._C import _are_functorch_transforms_active as _transformed
from torch.compiler import is_dynamo_compiling as _compiling
from torch.utils._python_dispatch import is_in_torch_dispatch_mode as _in_mode

from fictl.op.schema import Parameter, Schema
from fictl.op.torch_op import refuse_gradients

# What a guard looks up, by names that no parameter of a binding has.
_PLAIN = frozenset({torch.Tensor, torch.nn.Parameter})
_PLAIN_OR_NONE = _PLAIN | {type(None)}
_type = type

# Why generated: the signature is known, and a look at an argument that need not be taken is time.
_GUARD = """
def _make(_ffi, _elsewhere, _check):
    def {name}({parameters}):
        if {plain}:
            try:
                return _ffi({parameters})
            except RuntimeError:
                _check({parameters})
                raise
        return _elsewhere({parameters})

    def _bind(ffi):
        nonlocal _ffi
        _ffi = ffi

    return {name}, _bind
"""


class Route:
    """`call` is what a public function calls; `ffi` is where a call that torch need not see ends."""

    def __init__(
        self,
        name: str,
        schema: Schema | None,
        ffi: Callable[..., Any],
        traced: Callable[..., Any],
        check: Callable[..., None],
    ) -> None:
        """`check` raises what says better than the FFI why it takes no such arguments."""
        self._name = name
        self._schema = schema
        self._traced = traced
        self.ffi = ffi
        made: dict[str, Any] = {}
        # Why these globals: Dynamo looks up a function's by the module that it names.
        exec(_guard(name, schema), globals(), made)  # noqa: S102
        self.call: Callable[..., Any]
        self.call, self._bind = made["_make"](ffi, self._elsewhere, check)

    def bind(self, ffi: Callable[..., Any]) -> None:
        self.ffi = ffi
        self._bind(ffi)

    def launch(self, *arguments: Any) -> None:
        """The body of the torch op."""
        self.ffi(*arguments)

    def _elsewhere(self, *arguments: Any) -> Any:
        """Takes the calls that the guard does not let through."""
        if _compiling() or _seen(arguments):
            return self._traced(*arguments)
        if self._schema and _grad():
            refuse_gradients(self._name, self._schema, arguments)
        return self.ffi(*arguments)


def _guard(name: str, schema: Schema | None) -> str:
    if schema is None:
        plain = "not _compiling() and not _seen(arguments)"
        return _GUARD.format(name=name, parameters="*arguments", plain=plain)
    looks = ["not _compiling()"]
    if schema.tensors:
        looks += [f"_type({_in_python(each)}) in {_types(each)}" for each in schema.tensors]
        looks += ["not _in_mode()", "not _transformed()"]
    if schema.inputs:
        looks += [f"not (_grad() and ({' or '.join(map(_requires_grad, schema.inputs))}))"]
    parameters = ", ".join(map(_in_python, schema.parameters))
    return _GUARD.format(name=name, parameters=parameters, plain=" and ".join(looks))


def _types(tensor: Parameter) -> str:
    return "_PLAIN_OR_NONE" if tensor.is_optional else "_PLAIN"


def _requires_grad(tensor: Parameter) -> str:
    name = _in_python(tensor)
    look = f"{name}.requires_grad"
    return f"{name} is not None and {look}" if tensor.is_optional else look


def _in_python(parameter: Parameter) -> str:
    return f"{parameter.name}_" if iskeyword(parameter.name) else parameter.name


def _seen(arguments: tuple[Any, ...]) -> bool:
    """Fake, functional, sharded and wrapped tensors; plain ones where a mode watches them."""
    kinds = {type(each) for each in arguments if isinstance(each, torch.Tensor)}
    return bool(kinds) and (not kinds <= _PLAIN or _in_mode() or _transformed())
