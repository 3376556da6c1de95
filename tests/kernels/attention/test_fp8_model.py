"""Why values of fp8 are summed in two levels: by the model of the tensor cores."""

from __future__ import annotations

import torch

from .fp8_model import add, errors


def test_a_sum_of_long_contexts_is_as_exact_as_its_numbers() -> None:
    found = errors(2048)
    rounding = found["exact sums"]
    assert found["a tile of 128 keys, then fp32"] < 1.25 * rounding
    assert found["tensor cores alone"] > 2 * rounding


def test_the_model_cuts_off_what_is_below_the_largest_number() -> None:
    sums = torch.tensor([2.0**13], dtype=torch.float64)
    assert add(sums, torch.tensor([[1.0, 1.75, 0.5]], dtype=torch.float64)).item() == 2.0**13 + 2
