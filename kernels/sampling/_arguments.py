"""Arguments of sampling functions that are a number, or a tensor with one number per row."""

from __future__ import annotations

import math

import torch


def number_or_rows(
    op: str, name: str, value: torch.Tensor | float
) -> tuple[torch.Tensor | None, float]:
    """Return the tensor, in fp32, and the number."""
    if isinstance(value, torch.Tensor):
        return (value if value.dtype is torch.float32 else value.float()), 0.0
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
        raise ValueError(
            f"{op}: argument '{name}' is {value!r}; it is a number, or a tensor of one a row"
        )
    return None, float(value)


def count_or_rows(op: str, name: str, value: torch.Tensor | int) -> tuple[torch.Tensor | None, int]:
    """Return the tensor, of integers, and the number."""
    if isinstance(value, torch.Tensor):
        return value, 0
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(
            f"{op}: argument '{name}' is {value!r}; it is an int, or a tensor of one a row"
        )
    return None, value


def refuse_nan(op: str, name: str, x: torch.Tensor) -> None:
    """Raise a ValueError if x has a NaN; waits for the GPU."""
    if bool(x.isnan().any()):
        rows = x.isnan().any(-1).nonzero().flatten().tolist()
        shown = f"{rows[:5]}{' and more' if len(rows) > 5 else ''}"
        raise ValueError(f"{op}: argument '{name}' has NaN in the rows {shown}")
