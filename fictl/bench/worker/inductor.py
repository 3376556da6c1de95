"""Baselines by torch.compile, compiled for each case's sizes before timing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any


def compiled(function: Callable[..., Any]) -> Callable[..., Callable[[], Any]]:
    """Make a baseline for bench.py: `function`, compiled by inductor for each case's sizes."""
    last: dict[Any, Callable[..., Any]] = {}

    def prepare(**inputs: Any) -> Callable[[], Any]:
        import torch

        signature = _signature(inputs)
        if signature not in last:
            # Why: after a few sizes Dynamo would make a slower kernel for any size, or none.
            torch.compiler.reset()
            last.clear()
            last[signature] = torch.compile(function, dynamic=False)
        return partial(last[signature], **inputs)

    return prepare


def _signature(inputs: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(
        (name, tuple(value.shape), value.dtype) if hasattr(value, "shape") else (name, value)
        for name, value in inputs.items()
    )
