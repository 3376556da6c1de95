"""Returned values on their way into the caller's tensors."""

from __future__ import annotations

import pytest
import torch

from fictl.runnable.results import as_tuple, copy_results


def test_what_is_returned_as_one_or_many_is_a_tuple():
    one = torch.ones(1)
    assert as_tuple(None) == ()
    assert as_tuple(one) == (one,)
    assert as_tuple([one, one]) == (one, one)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (torch.ones(3), r"y was returned as float32 \[3\], its output is float32 \[2\]"),
        (torch.ones(1), r"float32 \[1\]"),
        (torch.ones(2, dtype=torch.float64), r"float64 \[2\]"),
    ],
)
def test_another_shape_or_dtype_is_refused(value, said):
    """copy_ would broadcast and round, and hide it."""
    with pytest.raises(ValueError, match=said):
        copy_results(["y"], [value], [torch.empty(2)])


def test_another_number_of_values_is_refused():
    with pytest.raises(ValueError, match="1 values were returned for y, z"):
        copy_results(["y", "z"], [torch.ones(2)], [torch.empty(2), torch.empty(2)])


def test_results_that_are_views_of_outputs_arrive_as_they_were():
    """The two outputs, exchanged: the first copy overwrites what the second is."""
    y, z = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    copy_results(["y", "z"], [z.view(2), y.view(2)], [y, z])
    assert (y.tolist(), z.tolist()) == ([3, 4], [1, 2])


def test_an_output_that_is_returned_stays():
    y = torch.tensor([1.0])
    copy_results(["y"], [y], [y])
    assert y.tolist() == [1]


def test_numbers_become_tensors():
    y = torch.empty((), dtype=torch.float32)
    copy_results(["y"], [2.5], [y])
    assert y.item() == 2.5
