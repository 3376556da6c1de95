"""Warming up: a process loads what it needs before it is given a solution or a reference."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fictl.judge.inside.clock import wait

# Whoever calls an op of fictl, or a solution in C++, loads these; forks cannot share them.
_LOADED = ("fictl.jit.build", "fictl.jit.load", "fictl.runnable.builders.python")


def warm(request: dict[str, Any]) -> dict[str, Any]:
    """Load what is needed and, on a GPU, make the context."""
    for name in _LOADED:
        import_module(name)
    if request["device"] == "cuda":
        wait()
    return {}
