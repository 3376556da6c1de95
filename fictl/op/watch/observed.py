"""A public function wrapped by the observers of its calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from fictl.op.declared import Op
from fictl.op.watch.call import Call, CallObserver


def observed(
    function: Callable[..., Any], op: Op, observers: Sequence[CallObserver]
) -> Callable[..., Any]:
    """Wrap the function; while torch.compile traces, the wrapper calls it without observers."""
    from torch.compiler import is_compiling

    @wraps(function)
    def watched(*args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return function(*args, **kwargs)
        call = Call(op, function, args, kwargs)
        begun: list[CallObserver] = []
        try:
            for observer in observers:
                observer.before(call)
                begun.append(observer)
            result = function(*args, **kwargs)
        except BaseException as error:
            for observer in reversed(begun):
                observer.failed(call, error)
            raise
        for observer in reversed(begun):
            observer.after(call, result)
        return result

    return watched
