"""apply, enable_apply and disable_apply, called as in flashinfer_bench."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

from fictl import settings
from fictl.apply.config import ApplyConfig, ApplyConfigRegistry
from fictl.apply.explanation import ApplyExplanation
from fictl.apply.runtime import ApplyRuntime
from fictl.errors import FictlError, UsageError
from fictl.trace import TraceSet
from fictl.tracing.runtime import TracingRuntime

# The name of a definition, or a function of the call's arguments that returns it.
Resolver = str | Callable[..., str]

OFF = "apply is off: enable_apply(dataset) switches it on"


def apply(
    definition: Resolver,
    args: tuple[Any, ...] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    fallback: Callable[..., Any] | None = None,
) -> Any:
    """Run the best solution of a definition for these arguments, or the fallback.

    With a definition alone it is a decorator, whose function is the fallback; its `explain` says
    what a call would run. While apply is off the fallback runs. `definition` may be a function that
    takes the arguments and returns the name. Arguments are the definition's inputs, or these and its
    outputs, which are then written.
    """
    if args is None and kwargs is None:
        return lambda function: _decorated(definition, function)
    return _routed(definition, args or (), kwargs or {}, fallback)


def enable_apply(
    dataset: str | Path | None = None,
    config: ApplyConfig | ApplyConfigRegistry | None = None,
    is_import: bool = False,
) -> ApplyRuntime:
    """Switch apply on with a dataset that is named here or by FICTL_APPLY; also as a context.

    Its solutions run in this process, with all that the process may do: the dataset must be yours.
    `is_import`: build nothing before the first call.
    """
    path = dataset or settings.APPLY.get()
    if path is None:
        raise UsageError(
            "enable_apply: no dataset is named",
            f"name one, or set {settings.APPLY.name}: its code runs in this process",
        )
    return ApplyRuntime(TraceSet.from_path(path), config).start(is_import)


def disable_apply() -> None:
    """Switch the current runtime off, and restore the one before; without one, nothing happens."""
    current = ApplyRuntime.current()
    if current is not None:
        current.stop()


def _decorated(definition: Resolver, function: Callable[..., Any]) -> Callable[..., Any]:
    from torch.compiler import is_compiling

    @wraps(function)
    def routed(*args: Any, **kwargs: Any) -> Any:
        # Off, this is all the cost.
        if not (ApplyRuntime._stack or TracingRuntime._stack) or is_compiling():  # noqa: SLF001
            return function(*args, **kwargs)
        return _routed(definition, args, kwargs, function)

    def explain(*args: Any, **kwargs: Any) -> ApplyExplanation:
        """Explain which solution this call would run."""
        name = _name(definition, args, kwargs)
        current = ApplyRuntime.current()
        if current is None:
            return ApplyExplanation(name, applies=False, why=OFF)
        return current.explain(name, args, kwargs)

    routed.explain = explain  # type: ignore[attr-defined]
    return routed


def _routed(
    definition: Resolver,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    fallback: Callable[..., Any] | None,
) -> Any:
    current, tracing = ApplyRuntime.current(), TracingRuntime.current()
    if current is not None or tracing is not None:
        name = _name(definition, args, kwargs)
        if tracing is not None:
            tracing.collect(name, args, kwargs)
        if current is not None:
            return current.dispatch(name, args, kwargs, fallback)
    if fallback is None:
        raise FictlError(OFF, "or pass a fallback")
    return fallback(*args, **kwargs)


def _name(definition: Resolver, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    return definition if isinstance(definition, str) else definition(*args, **kwargs)
