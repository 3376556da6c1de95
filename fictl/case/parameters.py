"""Parameters of a public function, and the ones that its trace declares as inputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fictl.trace import TraceTemplate


def flat_parameters(api: Any) -> dict[str, inspect.Parameter]:
    """Return parameters by name, without self; for a class, those of both its plan and its run."""
    methods: list[Callable[..., Any]] = (
        [getattr(api, name) for name in ("plan", "run") if hasattr(api, name)]
        if inspect.isclass(api)
        else [api]
    )
    every = [p for method in methods for p in inspect.signature(method).parameters.items()]
    return {name: parameter for name, parameter in every if name != "self"}


def input_parameters(template: TraceTemplate) -> set[str]:
    """Return the names of the parameters that receive the trace's inputs."""
    return {template.parameter(name) for name in template.inputs}
