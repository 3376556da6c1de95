"""Interception of calls: other code in place of a public function, or around it, while it is on.

While it is off a call costs nothing: the function's own wrapper calls the function itself.
Interceptors get the arguments by position, with defaults; torch.compile traces the op, not them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from threading import RLock
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from fictl import settings
from fictl.op.declared import Op
from fictl.op.watch.call import remembering

Function: TypeAlias = Callable[..., Any]
# (declaration, the function or what stands in its place so far) -> what is called instead.
Interceptor: TypeAlias = Callable[[Op, Function], Function]

# The module in a layer above, which starts what these settings ask for.
_STARTED_BY = (settings.APPLY, settings.TRACING)
_STARTER = "fictl.integration.by_setting"

_lock = RLock()
_interceptors: list[Interceptor] = []
_places: WeakKeyDictionary[Function, _Place] = WeakKeyDictionary()
_starts: list[bool] = []


@dataclass(frozen=True)
class _Place:
    """A function and the way to put another in its place. A plan() is remembered, not replaced."""

    op: Op
    function: Function
    put: Callable[[Function], None]
    is_plan: bool

    def update(self) -> None:
        if not _interceptors:
            self.put(self.function)
        elif self.is_plan:
            self.put(remembering(self.function))
        else:
            called = self.function
            for intercept in _interceptors:
                called = intercept(self.op, called)
            self.put(_untraced(self.function, called))


def offer(wrapper: Function, function: Function, op: Op, is_plan: bool = False) -> Function:
    """Make a wrapper of `fictl.op.wrapper` a place for interceptors, present and future ones."""
    put = getattr(wrapper, "put_function", None)
    if put is not None and wrapper is not function:
        with _lock:
            _start()
            _places[wrapper] = _Place(op, function, put, is_plan)
            if _interceptors:
                _places[wrapper].update()
    return wrapper


def intercept(interceptor: Interceptor) -> None:
    """Put an interceptor around all ops, those included that are imported already."""
    with _lock:
        if interceptor not in _interceptors:
            _interceptors.append(interceptor)
            _update()


def release(interceptor: Interceptor) -> None:
    """Take an interceptor away; without any, the ops are as they were."""
    with _lock:
        if interceptor in _interceptors:
            _interceptors.remove(interceptor)
            _update()


def _update() -> None:
    for place in list(_places.values()):
        place.update()


def _start() -> None:
    """Start, at the first op, what the settings ask for."""
    if _starts:
        return
    _starts.append(True)
    if any(setting.get() is not None for setting in _STARTED_BY):
        import_module(_STARTER).start()


def _untraced(function: Function, called: Function) -> Function:
    from torch.compiler import is_compiling

    @wraps(function)
    def intercepted(*args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return function(*args, **kwargs)
        return called(*args, **kwargs)

    return intercepted
