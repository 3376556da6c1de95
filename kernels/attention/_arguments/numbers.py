"""Numbers among the arguments: floats, or tensors of one element."""

from __future__ import annotations

import torch

Number = float | torch.Tensor


def number(op: str, name: str, value: Number) -> float:
    """Read a number; a tensor has one element, and the GPU that it is on is waited for."""
    if isinstance(value, torch.Tensor):
        if value.numel() != 1:
            raise ValueError(
                f"{op}: argument '{name}' has shape {tuple(value.shape)}; pass a number, or a "
                "tensor of one"
            )
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{op}: argument '{name}' is {value!r}; pass a number")
    return float(value)


def scale(op: str, **factors: Number | None) -> float:
    """Multiply the factors that are not None."""
    product = 1.0
    for name, value in factors.items():
        if value is not None:
            product *= number(op, name, value)
    return product
