from __future__ import annotations

import pytest
import torch

from fictl.case.poison import bytes_of_elements, poison, poisoned_allocations, unwritten


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


def test_strided_outputs_are_poisoned_and_what_lies_between_is_not() -> None:
    memory = torch.zeros(4, 6)
    tensor = memory[:, 1:4]
    poison([tensor])
    assert tensor.isnan().all()
    assert not memory[:, [0, 4, 5]].any()
    tensor[1] = 3.0
    assert unwritten(tensor) == 9


def test_an_expanded_tensor_is_left_alone() -> None:
    tensor = torch.zeros(1).expand(4)
    poison([tensor])
    assert not tensor.any()
    assert unwritten(tensor) == 0


def test_the_bytes_of_an_element_are_the_last_dimension() -> None:
    tensor = torch.tensor([[1, 2], [3, 4]], dtype=torch.int16).t()
    assert bytes_of_elements(tensor).tolist() == [[[1, 0], [3, 0]], [[2, 0], [4, 0]]]


def test_torch_allocates_poison_for_as_long_as_it_is_told_to() -> None:
    with poisoned_allocations():
        assert torch.empty(3).isnan().all()
    assert torch.get_deterministic_debug_mode() == 0


def test_an_empty_tensor_has_nothing_unwritten() -> None:
    tensor = torch.empty(0)
    poison([tensor])
    assert unwritten(tensor) == 0
