"""Backward: an author's function that gives the gradients of an op's arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any

from fictl.errors import InvalidValue, UsageError

_NEEDS = "needs_grad"


class Backward:
    """Called with those of the arguments, the results and their gradients that it names."""

    def __init__(
        self,
        function: Callable[..., Any],
        op: str,
        parameters: Sequence[Parameter],
        mutates: Sequence[str],
    ) -> None:
        """Results are called as what the op writes is, `out` where it writes nothing."""
        if not callable(function):
            raise InvalidValue(f"{op}: backward={function!r} is not a function", "pass a function")
        self._function = function
        self._op = op
        self._outs = tuple(mutates)
        self._results = self._outs or ("out",)
        allocated = {each.name for each in parameters if each.default is None}
        for name in mutates:
            if name not in allocated:
                raise UsageError(
                    f"{op}: it has a backward, and writes its argument '{name}'",
                    f"a gradient is of new results: let {name}=None allocate it",
                )
        self._names = self._named([each.name for each in parameters])

    def _named(self, parameters: Sequence[str]) -> tuple[str, ...]:
        gradients = [f"grad_{each}" for each in self._results]
        known = dict.fromkeys((*gradients, *self._results, *parameters, _NEEDS))
        own = signature(self._function).parameters.values()
        for each in own:
            if each.name not in known and each.default is each.empty:
                raise UsageError(
                    f"{self._op}: its backward takes {each.name!r}",
                    f"it takes any of {', '.join(known)}, by name",
                )
        return tuple(each.name for each in own if each.name in known)

    def bound(
        self, function: Callable[..., Any], parameters: Sequence[Parameter]
    ) -> Callable[..., Any]:
        """`function` on the values of all `parameters`, in their order, with its gradient."""
        import torch

        from fictl.op.gradient.refusal import refuse
        from fictl.op.gradient.wanted import wants_gradient

        names = tuple(each.name for each in parameters)
        differentiated = self._autograd_function(torch, function, parameters)

        def call(*values: Any) -> Any:
            given = dict(zip(names, values, strict=True))
            wanted = [name for name, value in given.items() if wants_gradient(value)]
            for name in wanted:
                reason = self._refusal(name, given, torch)
                if reason:
                    refuse(self._op, name, reason)
            return differentiated.apply(*values)

        return call

    def _refusal(self, name: str, given: Mapping[str, Any], torch: Any) -> str:
        """Why there is no gradient of this argument in this call; '' where there is."""
        for out in self._outs:
            if given[out] is not None:
                return f"{self._op} has a gradient only without {out}="
        if not isinstance(given[name], torch.Tensor):
            return f"{self._op} has a gradient of tensors only, not of what is in a list"
        if not given[name].requires_grad:
            return f"{self._op} has no forward-mode gradient"
        return ""

    def _autograd_function(
        self, torch: Any, function: Callable[..., Any], parameters: Sequence[Parameter]
    ) -> Any:
        names = tuple(each.name for each in parameters)
        positional = sum(each.kind is not each.KEYWORD_ONLY for each in parameters)
        backward = self

        class Differentiated(torch.autograd.Function):  # type: ignore[misc]
            @staticmethod
            def forward(*values: Any) -> Any:
                by_name = dict(zip(names[positional:], values[positional:], strict=True))
                return function(*values[:positional], **by_name)

            @staticmethod
            def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
                known = {**dict(zip(names, inputs, strict=True)), **backward._by_result(output)}
                kept = {name: known[name] for name in backward._names if name in known}
                tensors = {n: v for n, v in kept.items() if isinstance(v, torch.Tensor)}
                ctx.save_for_backward(*tensors.values())
                ctx.tensors = tuple(tensors)
                ctx.others = {n: v for n, v in kept.items() if n not in tensors}

            @staticmethod
            def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
                kept = dict(zip(ctx.tensors, ctx.saved_tensors, strict=True))
                needed = tuple(
                    n for n, need in zip(names, ctx.needs_input_grad, strict=True) if need
                )
                named = dict(zip(backward._results, gradients, strict=False))
                made = backward._made(
                    {
                        **ctx.others,
                        **kept,
                        **{f"grad_{name}": value for name, value in named.items()},
                        _NEEDS: needed,
                    },
                    needed,
                )
                return tuple(made.get(name) for name in names)

        return Differentiated

    def _by_result(self, output: Any) -> dict[str, Any]:
        results = output if isinstance(output, tuple) else (output,)
        if len(results) > len(self._results):
            raise UsageError(
                f"{self._op} returns {len(results)} results, and its backward knows "
                f"{', '.join(self._results)}",
                "name them in mutates=, in the order in which they are returned",
            )
        return dict(zip(self._results, results, strict=False))

    def _made(self, known: Mapping[str, Any], needed: Sequence[str]) -> dict[str, Any]:
        made = self._function(**{name: known[name] for name in self._names if name in known})
        if not isinstance(made, dict):
            raise UsageError(
                f"{self._op}: its backward returned a {type(made).__name__}",
                'return the gradients by argument: {"input": …}',
            )
        for name in needed:
            if name not in made:
                raise UsageError(
                    f"{self._op}: its backward gives no gradient of '{name}', which requires grad",
                    f'return {{"{name}": …}}; None says that it is zero',
                )
        return made
