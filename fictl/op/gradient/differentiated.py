"""A public function as an autograd function, in eager mode and while torch.compile traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from typing import Any

import torch

from fictl.op.gradient.backward import Backward
from fictl.op.gradient.refusal import FORWARD, refuse
from fictl.op.gradient.wanted import wanted_of
from fictl.project.backward_names import NEEDS


def differentiated(
    function: Callable[..., Any], parameters: Sequence[Parameter], backward: Backward
) -> Callable[..., Any]:
    """Wrap the function; the wrapper takes the values of all `parameters`, in order."""
    names = tuple(parameter.name for parameter in parameters)
    bare = sum(parameter.kind is not parameter.KEYWORD_ONLY for parameter in parameters)

    def run(*values: Any) -> Any:
        return function(*values[:bare], **dict(zip(names[bare:], values[bare:], strict=True)))

    def call(*values: Any) -> Any:
        given = dict(zip(names, values, strict=True))
        for name, value in given.items():
            wanted = wanted_of(value)
            why = _why_not(backward, value, wanted, given) if wanted else ""
            if why:
                refuse(backward.op, name, wanted, why)
        return _Differentiated.apply(run, names, backward, *values)  # type: ignore[no-untyped-call]

    return call


def _why_not(backward: Backward, value: Any, wanted: str, given: Mapping[str, Any]) -> str:
    """Say why this call has no gradient of this argument; '' if it has one."""
    if wanted == FORWARD:
        return f"{backward.op} has no gradient in forward mode"
    for out in backward.outs:
        if given[out] is not None:
            return f"{backward.op} has a gradient only without {out}="
    if not isinstance(value, torch.Tensor):
        return f"{backward.op} has a gradient of tensors only, not of what holds them"
    return ""


class _Differentiated(torch.autograd.Function):
    """The autograd function of all ops. Dynamo would not find the closure of one class per op."""

    @staticmethod
    def forward(
        run: Callable[..., Any], names: tuple[str, ...], backward: Backward, *values: Any
    ) -> Any:
        return run(*values)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save the values that the author's function takes; torch detects writes to tensors."""
        _, names, backward, *values = inputs
        known = {**dict(zip(names, values, strict=True)), **backward.by_result(output)}
        kept = {name: known[name] for name in backward.names if name in known}
        tensors = {k: v for k, v in kept.items() if isinstance(v, torch.Tensor)}
        ctx.save_for_backward(*tensors.values())
        ctx.names, ctx.author = names, backward
        ctx.tensors = tuple(tensors)
        ctx.others = {k: v for k, v in kept.items() if k not in tensors}

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        known = {**ctx.others, **dict(zip(ctx.tensors, ctx.saved_tensors, strict=True))}
        for name, gradient in zip(ctx.author.results, gradients, strict=False):
            known[f"grad_{name}"] = gradient
        _, _, _, *wants = ctx.needs_input_grad
        named = zip(ctx.names, wants, strict=True)
        known[NEEDS] = needed = tuple(name for name, is_needed in named if is_needed)
        by_name = ctx.author.gradients(known, needed)
        return (None, None, None, *(by_name.get(name) for name in ctx.names))
