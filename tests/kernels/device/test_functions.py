"""Functions of functions.cuh that no op of its own tests."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch


@pytest.mark.parametrize(("dtype", "error"), [(torch.float32, 1e-6), (torch.float64, 1e-15)])
def test_fast_tanh_is_tanh_at_any_number(
    dtype: torch.dtype, error: float, blocks: Any, device: str
) -> None:
    ends = [-math.inf, -1e30, -100.0, -45.0, -1e-30, 0.0, 1e-4, 30.0, 64.0, 1e30, math.inf]
    x = torch.cat([torch.tensor(ends), torch.linspace(-10, 10, 400)]).to(device, dtype)
    out = torch.empty_like(x)
    blocks.fast_tanh(out, x)
    torch.testing.assert_close(out.double(), x.double().tanh(), rtol=0, atol=error)


def test_fast_tanh_of_nan_is_nan(blocks: Any, device: str) -> None:
    x = torch.full((3,), math.nan, device=device)
    out = torch.zeros_like(x)
    blocks.fast_tanh(out, x)
    assert bool(out.isnan().all())


def test_polynomial_exp2_is_near_from_one_end_to_the_other(blocks: Any, device: str) -> None:
    ends = [-126.0, -125.5, -0.5, -0.0, 0.5, 1.5, 125.4999, 126.0]
    x = torch.cat([torch.tensor(ends), torch.linspace(-126, 126, 500)]).to(device)
    out = torch.empty_like(x)
    blocks.polynomial_exp2(out, x)
    torch.testing.assert_close(out.double(), x.double().exp2(), rtol=1e-4, atol=0)


def test_polynomial_exp2_of_nan_is_nan(blocks: Any, device: str) -> None:
    x = torch.full((3,), math.nan, device=device)
    out = torch.zeros_like(x)
    blocks.polynomial_exp2(out, x)
    assert bool(out.isnan().all())
