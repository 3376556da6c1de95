"""@flashinfer_api on a function of somebody's own: its calls are in fictl's call log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from fictl import settings
from fictl.arch import ArchRule
from fictl.errors import WrongType
from fictl.op import Op
from fictl.trace import TraceTemplate

__all__ = ["flashinfer_api"]

F = TypeVar("F", bound=Callable[..., Any])


@overload
def flashinfer_api(func: F) -> F: ...
@overload
def flashinfer_api(func: None = None, *, trace: Any = None) -> Callable[[F], F]: ...


def flashinfer_api(func: Any = None, *, trace: Any = None) -> Any:
    """Log the calls of a function at the level that FICTL_LOGLEVEL says; 0 gives it back as it is.

    With `trace`, a TraceTemplate, fi_trace describes its calls. A function that is an op of @op has
    both already, with dumps that can be replayed.
    """
    if trace is not None and not isinstance(trace, TraceTemplate):
        kind = type(trace).__name__
        raise WrongType(f"flashinfer_api: trace is a {kind}", "a fictl.trace.TraceTemplate")
    if func is None:
        return lambda function: _logged(function, trace)
    return _logged(func, trace)


def _logged(function: Any, trace: TraceTemplate | None) -> Any:
    anywhere = ArchRule.parse(">=7.5")
    op = Op(function.__name__, anywhere, (), (), (), module=function.__module__, trace=trace)
    if settings.LOGLEVEL.get():
        from fictl.op.watch.call_log import CallLog
        from fictl.op.watch.observed import observed

        function = observed(function, op, [CallLog.from_settings()])
    if trace is not None:
        function.op = op
    return function
