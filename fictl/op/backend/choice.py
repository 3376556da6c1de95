"""Choices: the backends chosen for calls of one function, cached by key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter
from typing import Any

from fictl import settings
from fictl.errors import UsageError
from fictl.op.backend.backends import Backends
from fictl.op.backend.call_key import is_value, key_parts
from fictl.op.backend.placement import devices_are_alike
from fictl.op.ffi.dynamo import replaced_in_dynamo
from fictl.trace import TraceTemplate

_MOST = 4096


class Choices:
    """Choices by `key(*arguments)` in `remembered`; `make` adds missing ones.

    `template` is called at the first call: trace.py cannot be imported during op.py's import.
    """

    # Errors of a key if an argument is not the expected tensor: a NumPy array, a list, a scalar.
    no_key = (AttributeError, TypeError, IndexError)

    def __init__(
        self,
        backends: Backends,
        parameters: Sequence[Parameter],
        template: Callable[[], TraceTemplate | None],
    ) -> None:
        self.backends = backends
        self.key = self._first_key()
        self._parameters = parameters
        self._names = tuple(parameter.name for parameter in parameters)
        self._values: list[str] = []
        self._template = template
        self._made: dict[Any, tuple[str, ...]] = {}
        # With validation, every choice is made again and compared with the previous one.
        self.remembered = {} if settings.VALIDATE_INPUTS.get() else self._made

    def make(self, *values: Any) -> tuple[str, ...]:
        """Choose the backends that run this call, best first."""
        from torch.compiler import is_compiling

        arguments = dict(zip(self._names, values, strict=True))
        chosen = self.backends.choose(arguments)
        return chosen if is_compiling() else self._kept(chosen, arguments)

    def unchecked(self, *values: Any) -> tuple[str, ...]:
        """Choose by architecture alone, without the checks."""
        arguments = dict(zip(self._names, values, strict=True))
        if not self.backends.needs:
            return ("",)
        return self.backends.choose(arguments, checked=False)

    def _kept(self, chosen: tuple[str, ...], arguments: dict[str, Any]) -> tuple[str, ...]:
        try:
            key = self.key(*arguments.values())
            earlier = self._made.get(key)
        except self.no_key:
            return chosen
        if earlier is not None and earlier != chosen:
            raise UsageError(
                f"{self.backends.op}: the backend is {earlier[0]!r} or {chosen[0]!r} for calls "
                "that differ in a Var axis only, or in what tensors hold",
                "checks and heuristics may depend on dtypes, devices, Const axes and the values "
                "of other arguments: the choice is remembered by these",
            )
        if all(is_value(arguments[name]) for name in self._values):
            if len(self._made) >= _MOST:
                self._made.clear()
            self._made[key] = chosen
        return chosen

    def _first_key(self) -> Callable[..., Any]:
        def first(*values: Any) -> Any:
            self.key = self._compiled_key()
            return self.key(*values)

        return _kept_from_dynamo(first)

    def _compiled_key(self) -> Callable[..., Any]:
        from torch import Tensor

        seen = self.backends.seen
        parts, self._values = key_parts(
            self._parameters, seen, self._template(), devices_are_alike()
        )
        source = f"lambda {', '.join(self._names)}: ({''.join(f'{part}, ' for part in parts)})"
        key = eval(source, {"_Tensor": Tensor})  # noqa: S307 names of parameters
        return _kept_from_dynamo(key)


def _kept_from_dynamo(key: Callable[..., Any]) -> Callable[..., Any]:
    """Keep Dynamo out: a choice while torch.compile traces is part of the trace, not cached."""
    replaced_in_dynamo(key, _no_key)
    return key


def _no_key(*_values: Any) -> Any:
    raise TypeError
