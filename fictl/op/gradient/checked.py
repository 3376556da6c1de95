"""Check of a public function's arguments: does one require grad?

Functions of a kernel module check the tensors that reach a kernel. This check finds the others: a
tensor that becomes a number, whose dtype cannot carry a gradient, or that is not passed on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from importlib.util import find_spec
from inspect import Parameter, signature
from typing import Any

from fictl.op.gradient.backward import Backward
from fictl.op.wrapper import compiled

# Check grad mode first: if it is off, as in serving, a call costs nothing more.
_LOOKS = """\
def {name}({signature}):
    if (_grad() and ({looks})) or _forward._current_level >= 0:
        if _wanted({own}):
            return _differentiated({own})
{foreign}    return _function({passed})
"""
# The first tensor decides: with one of torch's, a call costs the look at its type.
_FOREIGN = """\
    if _type({first}) is not _Tensor and not _isinstance({first}, _Tensor):
        return _called({every})
"""
# Types of values without tensors.
_PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None)})
_TENSOR = re.compile(r"(torch\.)?Tensor")
_WORDS_OF_NUMBERS = {"bool", "int", "float", "str", "None", "Optional", "torch", "dtype", "device"}


def checked(
    function: Callable[..., Any],
    op: str,
    backward: Backward | None = None,
    mutates: Sequence[str] = (),
) -> Callable[..., Any]:
    """Wrap `function`: if a gradient is wanted, differentiate by `backward`, or refuse the call.

    Arrays of other libraries become tensors. `mutates`: the arguments that the function writes.
    """
    if find_spec("torch") is None:  # NumPy, JAX and CuPy do not need it.
        return function
    parameters = tuple(signature(function).parameters.values())
    if any(
        parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        for parameter in parameters
    ):
        return _of_any_call(function, op)
    return _of_named(function, op, parameters, backward, mutates)


def _of_named(
    function: Callable[..., Any],
    op: str,
    parameters: Sequence[Parameter],
    backward: Backward | None,
    mutates: Sequence[str],
) -> Callable[..., Any]:
    import torch
    from torch.autograd import forward_ad

    from fictl.op.foreign.called import called
    from fictl.op.gradient.differentiated import differentiated
    from fictl.op.gradient.refusal import refuse
    from fictl.op.gradient.wanted import wanted_of

    own = [parameter for parameter in parameters if parameter.name != "self"]
    names = tuple(parameter.name for parameter in own)

    def wanted(*values: Any) -> bool:
        for name, value in zip(names, values, strict=True):
            mode = wanted_of(value)
            if mode:
                if backward is None:
                    refuse(op, name, mode)
                return True
        return False

    outside = {
        "_wanted": wanted,
        "_differentiated": differentiated(function, parameters, backward) if backward else None,
        "_grad": torch.is_grad_enabled,
        "_forward": forward_ad,
        "_Tensor": torch.Tensor,
        "_Parameter": torch.nn.Parameter,
        "_type": type,
        "_isinstance": isinstance,
        "_called": called(function, op, parameters, mutates),
        "_plain": _PLAIN | {torch.dtype, torch.device, torch.Generator},
    }
    looks = " or ".join(map(_look, own)) or "False"
    first = _first_tensor(own)
    every = ", ".join(parameter.name for parameter in parameters)
    foreign = _FOREIGN.format(first=first, every=every) if first else ""
    return compiled(
        _LOOKS, function, outside, {}, own=", ".join(names), looks=looks, foreign=foreign
    )


def _first_tensor(parameters: Sequence[Parameter]) -> str:
    """Return the first argument that has to be given and is a tensor; '' if there is none."""
    for parameter in parameters:
        if parameter.default is parameter.empty and _TENSOR.fullmatch(_annotation(parameter)):
            return parameter.name
    return ""


def _look(parameter: Parameter) -> str:
    """Write a condition that is true if the argument may require grad."""
    name, text = parameter.name, _annotation(parameter)
    look = f"_type({name}) not in _plain"
    if (
        parameter.annotation is parameter.empty
        or not {*re.findall(r"\w+", text)} <= _WORDS_OF_NUMBERS
    ):
        look = (
            f"({name}.requires_grad if _type({name}) is _Tensor or _type({name}) is _Parameter "
            f"else {look})"
        )
    if type(parameter.default) not in _PLAIN:
        return look
    return f"({name} is not _default_{name} and {look})"


def _annotation(parameter: Parameter) -> str:
    annotation = parameter.annotation
    return (
        annotation
        if isinstance(annotation, str)
        else getattr(annotation, "__name__", str(annotation))
    )


def _of_any_call(function: Callable[..., Any], op: str) -> Callable[..., Any]:
    """Wrap a function of any signature; arguments are named by keyword, or by position."""
    from fictl.op.gradient.refusal import refuse
    from fictl.op.gradient.wanted import wanted_of

    @wraps(function)
    def looked_at(*args: Any, **kwargs: Any) -> Any:
        named = {
            **{f"argument {place}": argument for place, argument in enumerate(args, 1)},
            **kwargs,
        }
        for name, value in named.items():
            mode = wanted_of(value)
            if mode:
                refuse(op, name, mode)
        return function(*args, **kwargs)

    return looked_at
