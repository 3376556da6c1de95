"""Statistics are of the finite values, of any dtype, and where there are none they say why."""

from __future__ import annotations

import pytest
import torch

from fictl.op.watch import statistics as module
from fictl.op.watch.statistics import measure, statistics


def test_nan_and_infinities_are_counted_beside_the_finite_values() -> None:
    values = torch.tensor([1.0, float("nan"), 3.0, float("inf"), -float("inf")])
    assert statistics(values) == "min 1 max 3 mean 2 nan 1 inf 2"


@pytest.mark.parametrize(
    "dtype",
    [torch.float16, torch.bfloat16, torch.float64, torch.float8_e4m3fn, torch.float8_e5m2],
)
def test_every_floating_dtype_has_them(dtype: torch.dtype) -> None:
    values = torch.tensor([-2.0, 0.5, 1.5]).to(dtype)
    assert statistics(values) == "min -2 max 1.5 mean 0 nan 0 inf 0"


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32, torch.int64])
def test_integers_have_no_nan(dtype: torch.dtype) -> None:
    assert statistics(torch.tensor([1, 2, 6], dtype=dtype)) == "min 1 max 6 mean 3"


def test_of_booleans_the_mean_is_how_many_are_true() -> None:
    assert statistics(torch.tensor([True, False, True, True])) == "min 0 max 1 mean 0.75"


def test_a_sum_that_float16_cannot_hold_has_a_mean() -> None:
    assert measure(torch.full((1000,), 60000.0, dtype=torch.float16)).mean == 60000.0


def test_a_tensor_without_elements_says_so() -> None:
    assert statistics(torch.empty(0, 4)) == "no elements"


def test_a_tensor_of_nan_alone_has_no_minimum() -> None:
    assert statistics(torch.full((3,), float("nan"))) == "nothing finite nan 3 inf 0"


def test_a_meta_tensor_has_no_data() -> None:
    assert statistics(torch.empty(3, device="meta")) == "no data: a meta tensor"


def test_a_dtype_without_arithmetic_says_so() -> None:
    packed = torch.empty(4, dtype=torch.float4_e2m1fn_x2)
    assert statistics(packed).startswith("no statistics: ")


def test_a_tensor_that_needs_a_gradient_is_only_looked_at() -> None:
    values = torch.ones(3, requires_grad=True)
    assert statistics(values) == "min 1 max 1 mean 1 nan 0 inf 0"


def test_a_large_tensor_is_looked_at_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    values = torch.arange(30.0).reshape(2, 15).t()
    values[7, 1] = float("nan")
    whole = statistics(values)
    monkeypatch.setattr(module, "_PIECE", 4)
    assert statistics(values) == whole
