"""Telling torch.compile's tracer what it need not follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
_MARK = "_dynamo_marked_constant"


def constant_to_dynamo(function: F) -> F:
    """Dynamo calls it while it traces, and takes the result as one that never changes.

    torch.compiler.assume_constant_result does this too, and takes a second to import the compiler.
    """
    setattr(function, _MARK, True)
    return function


def replaced_in_dynamo(function: Callable[..., Any], by: Callable[..., Any]) -> None:
    """Make compiled code call `by` instead: `function` need not ask at every call.

    These are the marks that torch's own wrappers bear.
    """

    def replacement(*arguments: Any) -> Any:
        return by(*arguments)

    vars(function).update(
        _torchdynamo_inline=replacement,
        _torchdynamo_orig_callable=replacement,
        _torchdynamo_wrapper_id=id(function),
    )
