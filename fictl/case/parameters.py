"""Parameters of a public function, and those of them that its trace calls inputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fictl.trace import TraceTemplate


def flat_parameters(api: Any) -> dict[str, inspect.Parameter]:
    """Parameters by name, without self; of a class, those of its plan and its run together."""
    methods: list[Callable[..., Any]] = (
        [getattr(api, name) for name in ("plan", "run") if hasattr(api, name)]
        if inspect.isclass(api)
        else [api]
    )
    every = [p for method in methods for p in inspect.signature(method).parameters.items()]
    return {name: parameter for name, parameter in every if name != "self"}


def input_parameters(template: TraceTemplate) -> set[str]:
    """Names of the parameters that the trace's inputs are passed as."""
    return {template.parameter(name) for name in template.inputs}
