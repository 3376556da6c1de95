"""Strided tensors of one shape walked as rows: what collapses, to what, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch


def _collapse(module: Any, out: torch.Tensor, x: torch.Tensor) -> list[int]:
    result = torch.zeros(4, dtype=torch.int64)
    module.collapse(out, x, result)
    return result.tolist()


@pytest.mark.parametrize(
    ("shape", "cols"), [((), 1), ((1, 1), 1), ((24,), 24), ((2, 3, 4), 24), ((1, 24, 1), 24)]
)
def test_contiguous_tensors_are_one_row(
    cuda_module: Any, shape: tuple[int, ...], cols: int
) -> None:
    x = torch.ones(shape)
    assert _collapse(cuda_module, x, x) == [1, cols, 0, 0]


def test_tensors_without_elements_have_no_rows(cuda_module: Any) -> None:
    assert _collapse(cuda_module, torch.ones(3, 0), torch.ones(3, 0)) == [0, 0, 0, 0]


def test_columns_of_a_matrix_are_rows_at_its_pitch(cuda_module: Any) -> None:
    out, x = torch.ones(4, 5, 6), torch.ones(4, 5, 16)[..., 8:14]
    assert _collapse(cuda_module, out, x) == [20, 6, 6, 16]


def test_outer_dimensions_at_one_pitch_merge_in_both(cuda_module: Any) -> None:
    out, x = torch.ones(4, 3, 6)[:, :2], torch.ones(4, 2, 6)
    assert _collapse(cuda_module, out, x) == [4, 12, 18, 12]


def test_dense_tensors_in_one_order_of_dimensions_are_one_row(cuda_module: Any) -> None:
    x = torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last)
    assert _collapse(cuda_module, x, x) == [1, 120, 0, 0]


def test_a_row_for_all_has_pitch_zero(cuda_module: Any) -> None:
    assert _collapse(cuda_module, torch.ones(4, 8), torch.ones(8).expand(4, 8)) == [4, 8, 8, 0]


def test_every_other_element_is_a_row_of_its_own(cuda_module: Any) -> None:
    assert _collapse(cuda_module, torch.ones(8), torch.ones(16)[::2]) == [8, 1, 1, 2]


_SQUARE = torch.ones(8, 8)


@pytest.mark.parametrize(
    ("out", "x"),
    [
        (_SQUARE, _SQUARE.t()),
        (torch.ones(4, 4), _SQUARE[::2, ::2]),
        (torch.ones(2, 4, 4), torch.ones(2, 7, 8)[:, ::2, :4]),
        (torch.ones(8).expand(4, 8), torch.ones(4, 8)),
        (torch.ones(1).expand(8), torch.ones(8)),
        (torch.ones(12).as_strided((3, 4), (2, 1)), torch.ones(3, 4)),
    ],
    ids=["transposed", "steps", "three", "out expanded", "out scalar", "out overlaps"],
)
def test_what_does_not_collapse_is_refused_with_shape_and_strides(
    cuda_module: Any, out: torch.Tensor, x: torch.Tensor
) -> None:
    shape, *strides = (re.escape(str(tuple(v))) for v in (out.shape, out.stride(), x.stride()))
    text = f"attend: arguments out, input of shape {shape} have strides {', '.join(strides)}: .*"
    with pytest.raises(ValueError, match=text + r"\.contiguous\(\)"):
        _collapse(cuda_module, out, x)


def test_three_tensors_walk_together(cuda_module: Any) -> None:
    out, x, y = torch.ones(4, 6), torch.ones(4, 16)[:, :6], torch.ones(6).expand(4, 6)
    result = torch.zeros(5, dtype=torch.int64)
    cuda_module.collapse_three(out, x, y, result)
    assert result.tolist() == [4, 6, 6, 16, 0]
