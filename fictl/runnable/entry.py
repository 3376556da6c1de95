"""The entry function of a solution, and checks of its signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any, get_args, get_origin

from fictl.runnable.error import BuildError
from fictl.trace import Definition, Solution


def entry_function(solution: Solution, module: Any) -> Callable[..., Any]:
    symbol = solution.get_entry_symbol()
    function = getattr(module, symbol, None)
    where = f"{solution.name}: {solution.get_entry_path()}"
    if function is None:
        raise BuildError(f"{where} defines no {symbol}", f"it defines {_defined(module)}")
    if not callable(function) or _is_kernel(function):
        raise BuildError(
            f"{where}: {symbol} is a {type(function).__name__}, which cannot be called",
            "the entry point is the function that launches",
        )
    return function  # type: ignore[no-any-return]


def check_signature(
    definition: Definition, solution: Solution, function: Callable[..., Any]
) -> None:
    """Check the number of arguments, if the function tells its signature."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    inputs, outputs = [*definition.inputs], [*definition.outputs]
    passes = solution.spec.destination_passing_style
    given = inputs + outputs if passes else inputs
    try:
        signature.bind(*given)
    except TypeError as error:
        raise BuildError(
            f"{solution.name}: {solution.get_entry_symbol()}{_spelled(signature)} is called with "
            f"{', '.join(given) or 'nothing'}: {error}",
            _style_hint(signature, passes, inputs, outputs),
        ) from None
    returned = signature.return_annotation
    counted = get_origin(returned) is tuple and ... not in get_args(returned)
    if not passes and counted and len(get_args(returned)) != len(outputs):
        raise BuildError(
            f"{solution.name}: {solution.get_entry_symbol()} returns {len(get_args(returned))} "
            f"values, the outputs are {', '.join(outputs) or 'none'}"
        )


def _style_hint(
    signature: inspect.Signature, passes: bool, inputs: list[str], outputs: list[str]
) -> str:
    other = inputs if passes else inputs + outputs
    try:
        signature.bind(*other)
    except TypeError:
        return (
            "arguments are passed by position: the inputs of the definition, then, in "
            "destination-passing style, its outputs"
        )
    return f"it fits with destination_passing_style {str(not passes).lower()} in the solution"


def _spelled(signature: inspect.Signature) -> str:
    return f"({', '.join(str(parameter) for parameter in signature.parameters.values())})"


def _is_kernel(value: object) -> bool:
    """Tell whether it is a `@triton.jit` kernel: its __call__ only raises."""
    return type(value).__module__.startswith("triton.") and hasattr(value, "run")


def _defined(module: Any) -> str:
    """Names of the public functions that a module defines itself."""
    own = [
        name
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and isinstance(module, ModuleType)
        and getattr(value, "__module__", "") == module.__name__
    ]
    return ", ".join(own) or "no function"
