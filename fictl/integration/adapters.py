"""Adapters: how calls of an op are those of a definition that was not made of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from fictl.errors import UsageError
from fictl.op import declaration

Adapter = Callable[..., Any]
F = TypeVar("F", bound=Adapter)

_adapters: dict[str, Adapter] = {}


def adapter(api: Any) -> Callable[[F], F]:
    """Register a function that is called in place of an op while apply or tracing is on.

    It gets the op, then the arguments of the call by position (`self` of a class is left out, and
    the arguments of its plan() come by name), and calls `apply` with a definition's own names, as
    of FlashInfer's public dataset, or the op. A second one for an op replaces the first.
    """
    name = declaration(api).api

    def register(function: F) -> F:
        _adapters[name] = function
        return function

    return register


def adapter_of(api: str) -> Adapter | None:
    return _adapters.get(api)


def remove_adapter(api: Any) -> None:
    """Remove the adapter of an op; UsageError if it has none."""
    name = declaration(api).api
    if _adapters.pop(name, None) is None:
        raise UsageError(f"{name} has no adapter")
