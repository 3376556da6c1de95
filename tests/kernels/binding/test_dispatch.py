"""From run-time values to template arguments: each hit, and each miss with its message."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.int64])
def test_a_dtype_reaches_its_type(cuda_module: Any, dtype: torch.dtype) -> None:
    assert cuda_module.dispatch_dtype(torch.ones(2, dtype=dtype)) == dtype.itemsize


@pytest.mark.parametrize("name", ["bfloat16", "float64", "int16", "uint8", "bool"])
def test_a_dtype_that_is_not_accepted_is_a_type_error(cuda_module: Any, name: str) -> None:
    text = f"attend: argument 'weight' has dtype {name}; accepted: float16, float32, int64"
    with pytest.raises(TypeError, match=f"^{text}$"):
        cuda_module.dispatch_dtype(torch.ones(2, dtype=getattr(torch, name)))


@pytest.mark.parametrize("head_dim", [64, 128, 256])
def test_an_int_reaches_its_constant(cuda_module: Any, head_dim: int) -> None:
    assert cuda_module.dispatch_int(head_dim) == head_dim


@pytest.mark.parametrize("head_dim", [0, 96, -64, 2**40])
def test_an_int_that_is_not_accepted_is_not_implemented(cuda_module: Any, head_dim: int) -> None:
    text = f"attend: argument 'head_dim' is {head_dim}; accepted: 64, 128, 256"
    with pytest.raises(NotImplementedError, match=f"^{re.escape(text)}$"):
        cuda_module.dispatch_int(head_dim)


@pytest.mark.parametrize("causal", [False, True])
def test_a_bool_reaches_its_constant(cuda_module: Any, causal: bool) -> None:
    assert cuda_module.dispatch_bool(causal) == causal


def test_dispatches_nest(cuda_module: Any) -> None:
    assert cuda_module.dispatch_nested(torch.ones(2), 128) == 4 * 128


def test_a_miss_of_the_inner_dispatch_passes_the_outer_one(cuda_module: Any) -> None:
    with pytest.raises(
        NotImplementedError, match=r"argument 'head_dim' is 256; accepted: 64, 128$"
    ):
        cuda_module.dispatch_nested(torch.ones(2), 256)
