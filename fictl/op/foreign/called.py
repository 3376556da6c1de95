"""A public function called with arrays: they become tensors, and its results arrays of the first one's kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from typing import Any

import torch

from fictl.op.ffi.wrong_device import WrongDevice
from fictl.op.foreign.arrays import as_array, as_tensor, is_array, is_traced


def called(
    function: Callable[..., Any], op: str, parameters: Sequence[Parameter], mutates: Sequence[str]
) -> Callable[..., Any]:
    """Wrap the function; the wrapper takes the values of all `parameters`, in order."""
    names = tuple(parameter.name for parameter in parameters)
    bare = sum(parameter.kind is not parameter.KEYWORD_ONLY for parameter in parameters)

    def run(given: Mapping[str, Any]) -> Any:
        values = tuple(given.values())
        return function(*values[:bare], **dict(zip(names[bare:], values[bare:], strict=True)))

    def call(*values: Any) -> Any:
        given = dict(zip(names, values, strict=True))
        if any(map(is_traced, values)):
            from fictl.op.foreign.jax_jit import call_in_jit

            return call_in_jit(function, run, op, given, mutates)
        arrays = {name: value for name, value in given.items() if is_array(value)}
        if not arrays:
            return run(given)
        tensors = {n: as_tensor(value, op, n, n in mutates) for n, value in arrays.items()}
        try:
            result = run({**given, **tensors})
        except WrongDevice as error:
            raise _of_array(error, arrays) from None
        own = {id(tensor): arrays[name] for name, tensor in tensors.items()}
        return _back(result, next(iter(arrays.values())), own)

    return call


def _of_array(error: WrongDevice, arrays: Mapping[str, Any]) -> WrongDevice:
    """Say the way out in words of arrays."""
    if error.argument in arrays and error.wanted == "cuda":
        error.hint = (
            f"pass cupy.asarray({error.argument}), an array of JAX on a GPU or a CUDA tensor, or set "
            "FICTL_DEVICE=emu to run it on the emulated device"
        )
    return error


def _back(result: Any, like: Any, own: Mapping[int, Any]) -> Any:
    """Return a result with arrays in place of tensors; an array that was given is that array."""
    if isinstance(result, torch.Tensor):
        return own[id(result)] if id(result) in own else as_array(result, like)
    if isinstance(result, tuple):
        parts = [_back(part, like, own) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    if isinstance(result, list):
        return [_back(part, like, own) for part in result]
    return result
