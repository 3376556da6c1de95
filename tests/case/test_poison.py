from __future__ import annotations

import pytest
import torch

from fictl.case.poison import poison, unwritten


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float16,
        torch.bfloat16,
        torch.float32,
        torch.float64,
        torch.float8_e4m3fn,
        torch.float8_e5m2,
    ],
)
def test_poison_is_nan_in_every_floating_type(dtype: torch.dtype) -> None:
    tensor = torch.zeros((3, 5), dtype=dtype)
    poison([tensor])
    assert tensor.float().isnan().all()
    assert unwritten(tensor) == 15


def test_what_was_written_is_told_from_poison() -> None:
    tensor = torch.zeros(8)
    poison([tensor])
    tensor[:3] = torch.tensor([1.0, float("nan"), float("inf")])
    assert unwritten(tensor) == 5


def test_integers_may_be_minus_one() -> None:
    tensor = torch.zeros(4, dtype=torch.int32)
    poison([tensor])
    assert (tensor == -1).all()
    assert unwritten(tensor) == 0


def test_an_empty_tensor_has_nothing_unwritten() -> None:
    tensor = torch.empty(0)
    poison([tensor])
    assert unwritten(tensor) == 0
