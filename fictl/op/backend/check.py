"""Check: an author's function that says whether a call can run, or why not."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fictl.errors import UsageError


class Check:
    """A function that takes some of the op's arguments, and returns True, False or a reason."""

    def __init__(
        self, function: Callable[..., Any], op: str, parameters: Sequence[str], skip: int = 0
    ) -> None:
        self.function = function
        self.name = getattr(function, "__name__", repr(function))
        self.names = _named(function, op, parameters, skip)

    def given(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {name: arguments[name] for name in self.names}

    def reason(self, arguments: Mapping[str, Any]) -> str:
        """Say why it refuses the call; '' if it accepts."""
        try:
            answer = self.function(**self.given(arguments))
        except ValueError as error:
            # Why not str(error): Dynamo does not follow it.
            return error.args[0] if error.args else f"{self.name} refuses it"
        if isinstance(answer, str):
            return answer or f"{self.name} refuses it"
        if answer is None:
            raise UsageError(
                f"{self.name} returned None",
                "a check returns True, False or the reason as text, or raises ValueError",
            )
        return "" if answer else f"{self.name} refuses it"


def _named(
    function: Callable[..., Any], op: str, parameters: Sequence[str], skip: int
) -> tuple[str, ...]:
    """List the op's parameters that `function` takes after its first `skip` parameters."""
    own = list(inspect.signature(function).parameters.values())[skip:]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in own):
        return tuple(parameters)
    for parameter in own:
        if parameter.name not in parameters and parameter.default is parameter.empty:
            raise UsageError(
                f"{getattr(function, '__name__', function)} takes {parameter.name!r}, {op} does not",
                f"a check takes any of {', '.join(parameters)}",
            )
    return tuple(parameter.name for parameter in own if parameter.name in parameters)
