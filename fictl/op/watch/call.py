"""One call of a public function, for observers: log, dumps, traces, validation."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import count
from typing import Any, Protocol

from fictl.op.declared import Op

_sequence = count(1)
_PLANNED = "_fictl_planned"


class Call:
    """One call, before its kernels start. Arguments are bound on access: log level 1 needs none."""

    def __init__(
        self, op: Op, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> None:
        self.op = op
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.sequence = next(_sequence)  # 1, 2, … in this process; atomic

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """Arguments by parameter name, with defaults; arguments of plan() come first."""
        bound = inspect.signature(self.function).bind(*self.args, **self.kwargs)
        bound.apply_defaults()
        own = dict(bound.arguments)
        return {**planned(own.pop("self", None)), **own}


class CallObserver(Protocol):
    """Observer of every call. `before` completes before a kernel can crash the process.

    An error in `before` refuses the call; then outer observers get `failed`.
    """

    def before(self, call: Call) -> None: ...

    def after(self, call: Call, result: Any) -> None: ...

    def failed(self, call: Call, error: BaseException) -> None: ...


def planned(instance: object) -> dict[str, Any]:
    """Return the arguments of the last plan() of this object."""
    return dict(getattr(instance, _PLANNED, {}))


def remembering(plan: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap plan() to keep its arguments in the object, for observers of run()."""
    from functools import wraps

    signature = inspect.signature(plan)

    @wraps(plan)
    def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        result = plan(self, *args, **kwargs)
        setattr(self, _PLANNED, {k: v for k, v in bound.arguments.items() if k != "self"})
        return result

    return wrapper
