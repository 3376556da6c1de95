"""Functions on tensors and dtypes that FlashInfer's users call."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from fictl.compat.flashinfer._numbers import last_positive_power_of_2
from fictl.errors import InvalidValue, WrongType

__all__ = [
    "canonicalize_torch_dtype",
    "check_shape_dtype_device",
    "get_alibi_slopes",
    "get_indptr",
    "is_float8",
]


def is_float8(x: torch.Tensor) -> bool:
    return x.dtype in (torch.float8_e4m3fn, torch.float8_e5m2)


def canonicalize_torch_dtype(dtype: torch.dtype | str) -> torch.dtype:
    """Convert a dtype's name in torch; a dtype is returned as it is."""
    torch_dtype = getattr(torch, dtype, None) if isinstance(dtype, str) else dtype
    if isinstance(torch_dtype, torch.dtype):
        return torch_dtype
    kind = InvalidValue if isinstance(dtype, str) else WrongType
    raise kind(f"{dtype!r} is not a dtype", "a torch.dtype, or its name: 'bfloat16'")


def get_indptr(x: torch.Tensor) -> torch.Tensor:
    """Convert lengths to int64 offsets: [2, 3] becomes [0, 2, 5]."""
    return torch.nn.functional.pad(x.to(torch.int64).cumsum(0), (1, 0))


def get_alibi_slopes(n_heads: int, device: torch.device | None = None) -> torch.Tensor:
    """Slopes of the ALiBi paper: a geometric series; for other numbers of heads than powers of two,
    every second slope of a finer one is added.
    """
    whole = last_positive_power_of_2(n_heads)
    exponents = [8 * (head + 1) / whole for head in range(whole)]
    exponents += [4 * (2 * head + 1) / whole for head in range(n_heads - whole)]
    return torch.exp2(-torch.tensor(exponents, dtype=torch.float64)).float().to(device)


def check_shape_dtype_device(
    x: torch.Tensor,
    expected_shape: Sequence[int] | None,
    expected_dtype: torch.dtype | None,
    expected_device: torch.device | None,
    name: str,
) -> None:
    """Raise a ValueError that names the argument; None stands for no expectation."""
    wanted = {
        "shape": tuple(expected_shape) if expected_shape else None,
        "dtype": expected_dtype,
        "device": expected_device,
    }
    seen = {"shape": tuple(x.shape), "dtype": x.dtype, "device": x.device}
    for what, expected in wanted.items():
        if expected is not None and seen[what] != expected:
            raise InvalidValue(f"{name} has the {what} {seen[what]}, expected {expected}")
