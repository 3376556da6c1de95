"""Route of a call: directly to the FFI, or through torch.ops if torch must see the call."""

from __future__ import annotations

from collections.abc import Callable
from itertools import compress
from keyword import iskeyword
from typing import Any

import torch
from torch import is_grad_enabled as _grad  # noqa: F401 in _GUARD
from torch._C import _are_functorch_transforms_active as _transformed
from torch._C import _increment_version as _changed
from torch.utils import _python_dispatch as _modes

from fictl.op.ffi.dynamo import replaced_in_dynamo
from fictl.op.ffi.schema import Parameter, Schema
from fictl.op.ffi.torch_op import refuse_gradients
from fictl.op.gradient.wanted import wanted_of as _wanted  # noqa: F401 in _GUARD

# Names that a guard looks up; no parameter of a binding has such a name.
_Tensor, _Parameter = torch.Tensor, torch.nn.Parameter
_type = type

# Why generated: the signature is known, so that the guard skips needless checks of arguments.
# What costs more than its use is not looked at before the call: Dynamo follows _torchdynamo_inline,
# and tensors that a transform has wrapped have no memory, which the FFI or the binding refuses.
_GUARD = """
def _make(_ffi, _elsewhere, _refused, _stale):
    def {name}({parameters}):
        if {plain}:
            try:
                result = _ffi({parameters})
            except RuntimeError:
                return _refused({parameters})
            except ValueError:
                return _stale({parameters})
            {changed}
            return result
        return _elsewhere({parameters})

    def _bind(ffi):
        nonlocal _ffi
        _ffi = ffi

    return {name}, _bind
"""


class Route:
    """`call` is called by the public function; `ffi` takes the calls that torch need not see."""

    def __init__(
        self,
        name: str,
        schema: Schema | None,
        ffi: Callable[..., Any],
        traced: Callable[..., Any],
        check: Callable[..., None],
        follow: Callable[[], bool] = lambda: False,
    ) -> None:
        """`check` raises a better error than the FFI for arguments that the FFI refuses.

        `follow` binds the function of another device if the process has changed to it since.
        """
        self._name = name
        self._schema = schema
        self._traced = traced
        self._check = check
        self._follow = follow
        self.ffi = ffi
        namespace: dict[str, Any] = {}
        # Why these globals: Dynamo looks up a function's globals by its module name.
        exec(_guard(name, schema), globals(), namespace)  # noqa: S102
        self.call: Callable[..., Any]
        self.call, self._bind = namespace["_make"](
            self._elsewhere, self._elsewhere, self._refused, self._stale
        )
        replaced_in_dynamo(self.call, traced)

    def bind(self, ffi: Callable[..., Any]) -> None:
        self.ffi = ffi
        self._bind(ffi)

    def launch(self, *arguments: Any) -> Any:
        """Call the FFI directly with plain tensors or DLPack objects: the torch op's body."""
        try:
            result = self.ffi(*arguments)
        except ValueError:
            if not self._follow():
                raise
            result = self.ffi(*arguments)
        written = (
            [parameter.written for parameter in self._schema.parameters] if self._schema else ()
        )
        _changed(
            [argument for argument in compress(arguments, written) if isinstance(argument, _Tensor)]
        )
        return result

    def _elsewhere(self, *arguments: Any) -> Any:
        """Handle calls that the guard does not pass."""
        if _seen(arguments):
            return self._traced(*arguments)
        names = [parameter.name for parameter in self._schema.parameters] if self._schema else None
        refuse_gradients(self._name, names, arguments)
        try:
            return self.launch(*arguments)
        except Exception:
            self._check(*arguments)
            raise

    def _stale(self, *arguments: Any) -> Any:
        """Call again if the binding is another device's; runs inside the except block.

        Why only then: a look at the setting before each call would cost as much as the call.
        """
        if self._follow():
            return self.launch(*arguments)
        raise  # noqa: PLE0704

    def _refused(self, *arguments: Any) -> Any:
        """Handle calls that the FFI or the binding refused; runs inside the except block."""
        if _transformed():
            return self._traced(*arguments)
        self._check(*arguments)
        raise  # noqa: PLE0704


def _guard(name: str, schema: Schema | None) -> str:
    if schema is None:
        plain = "not _seen(arguments) and not (_grad() and _wanted(arguments))"
        return _GUARD.format(name=name, parameters="*arguments", plain=plain, changed="")
    looks = [_is_plain(tensor) for tensor in schema.tensors]
    if schema.tensors:
        looks += ["not _modes._is_in_torch_dispatch_mode"]
        looks += [f"not (_grad() and ({' or '.join(map(_requires_grad, schema.tensors))}))"]
    parameters = ", ".join(map(_in_python, schema.parameters))
    plain = " and ".join(looks) or "True"
    return _GUARD.format(name=name, parameters=parameters, plain=plain, changed=_tell(schema))


def _tell(schema: Schema) -> str:
    """Write code that tells autograd which tensors changed: it may have saved their old values."""
    written = [tensor for tensor in schema.tensors if tensor.written]
    always = [_in_python(tensor) for tensor in written if not tensor.is_optional]
    others = [_in_python(tensor) for tensor in written if tensor.is_optional]
    told = [f"_changed(({', '.join(always)},))"] if always else []
    told += [f"{name} is None or _changed(({name},))" for name in others]
    return "; ".join(told)


def _is_plain(tensor: Parameter) -> str:
    name = _in_python(tensor)
    kinds = [f"_type({name}) is _Tensor", f"_type({name}) is _Parameter"]
    return f"({' or '.join(kinds + [f'{name} is None'] * tensor.is_optional)})"


def _requires_grad(tensor: Parameter) -> str:
    name = _in_python(tensor)
    look = f"{name}.requires_grad"
    return f"{name} is not None and {look}" if tensor.is_optional else look


def _in_python(parameter: Parameter) -> str:
    return f"{parameter.name}_" if iskeyword(parameter.name) else parameter.name


def _seen(arguments: tuple[Any, ...]) -> bool:
    """True for fake, functional, sharded and wrapped tensors; for all under a torch mode."""
    kinds = {type(argument) for argument in arguments if isinstance(argument, torch.Tensor)}
    plain = kinds <= {_Tensor, _Parameter}
    return bool(kinds) and (not plain or _modes.is_in_torch_dispatch_mode() or _transformed())
