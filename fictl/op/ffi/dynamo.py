"""Marks for torch.compile's tracer on functions that it need not follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
_MARK = "_dynamo_marked_constant"


def constant_to_dynamo(function: F) -> F:
    """Have Dynamo call the function while tracing, and treat the result as a constant.

    torch.compiler.assume_constant_result does the same, but needs a second to import the compiler.
    """
    setattr(function, _MARK, True)
    return function


def replaced_in_dynamo(function: Callable[..., Any], by: Callable[..., Any]) -> None:
    """Make compiled code call `by` instead, so that `function` need not check at every call.

    torch's own wrappers have the same marks.
    """

    def replacement(*arguments: Any) -> Any:
        return by(*arguments)

    vars(function).update(
        _torchdynamo_inline=replacement,
        _torchdynamo_orig_callable=replacement,
        _torchdynamo_wrapper_id=id(function),
    )
