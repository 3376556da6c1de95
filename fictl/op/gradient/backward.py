"""Backward: an author's function that returns the gradients of an op's arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any

from fictl.errors import InvalidValue, UsageError
from fictl.project.backward_names import known_to_backward, results_of


class Backward:
    """`names`: the arguments, results and gradients of results that the function takes."""

    def __init__(
        self,
        function: Callable[..., Any],
        op: str,
        parameters: Sequence[Parameter],
        mutates: Sequence[str],
    ) -> None:
        if not callable(function):
            raise InvalidValue(f"{op}: backward={function!r} is not a function", "pass a function")
        allocated = {parameter.name for parameter in parameters if parameter.default is None}
        for name in mutates:
            if name not in allocated:
                raise UsageError(
                    f"{op} has a backward, and writes its argument '{name}'",
                    f"a gradient is of new results: let {name}=None allocate it",
                )
        self.op = op
        self.outs = tuple(mutates)
        self.results = results_of(self.outs)
        self._function = function
        self.names = self._named([parameter.name for parameter in parameters])

    def _named(self, parameters: Sequence[str]) -> tuple[str, ...]:
        known = known_to_backward(parameters, self.outs)
        own = signature(self._function).parameters.values()
        for parameter in own:
            if parameter.name not in known and parameter.default is parameter.empty:
                raise UsageError(
                    f"{self.op}: its backward takes {parameter.name!r}",
                    f"it takes any of {', '.join(known)}, by name",
                )
        return tuple(parameter.name for parameter in own if parameter.name in known)

    def by_result(self, output: Any) -> dict[str, Any]:
        """Results of a call by name."""
        results = output if isinstance(output, tuple) else (output,)
        if len(results) > len(self.results):
            raise UsageError(
                f"{self.op} returns {len(results)} results, and its backward knows "
                f"{', '.join(self.results)}",
                "name them in mutates=, in the order in which they are returned",
            )
        return dict(zip(self.results, results, strict=False))

    def gradients(self, known: Mapping[str, Any], needed: Sequence[str]) -> dict[str, Any]:
        """Gradients by argument, for every name in `needed`."""
        gradients = self._function(**{name: known[name] for name in self.names if name in known})
        if not isinstance(gradients, dict):
            raise UsageError(
                f"{self.op}: its backward returned a {type(gradients).__name__}",
                'return the gradients by argument: {"input": …}',
            )
        for name in needed:
            if name not in gradients:
                raise UsageError(
                    f"{self.op}: its backward gives no gradient of '{name}', which requires grad",
                    f'return {{"{name}": …}}; None says that it is zero',
                )
        return gradients
