"""Parameters of a pipeline's call: a number for all rows, or a tensor of one a row."""

from __future__ import annotations

import math

import torch


def temperature_of(value: object) -> torch.Tensor | float:
    """Check a temperature, which divides logits; a column of rows becomes one dimension."""
    if isinstance(value, torch.Tensor):
        return value.flatten() if value.dim() > 1 else value
    if not _is_number(value) or not 0 < float(value) < math.inf:  # type: ignore[arg-type]
        raise ValueError(
            f"temperature is {value!r}: Temperature must be positive float or a tensor array"
        )
    return float(value)  # type: ignore[arg-type]


def count_of(name: str, value: object) -> torch.Tensor | int:
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise ValueError(
            f"{name} is {value!r}: {name} must be a positive integer or a tensor array"
        )
    return value


def share_of(name: str, value: object) -> torch.Tensor | float:
    if isinstance(value, torch.Tensor):
        return value
    if not _is_number(value) or not 0 < float(value) <= 1:  # type: ignore[arg-type]
        raise ValueError(f"{name} is {value!r}: {name} must be float in (0, 1] or a tensor array")
    return float(value)  # type: ignore[arg-type]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
