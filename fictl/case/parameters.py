"""Parameters of a public function; of a class, those of its plan and its run together."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def flat_parameters(api: Any) -> dict[str, inspect.Parameter]:
    """Parameters by name, without self."""
    methods: list[Callable[..., Any]] = (
        [getattr(api, name) for name in ("plan", "run") if hasattr(api, name)]
        if inspect.isclass(api)
        else [api]
    )
    every = [p for method in methods for p in inspect.signature(method).parameters.items()]
    return {name: parameter for name, parameter in every if name != "self"}
