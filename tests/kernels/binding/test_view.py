"""Views of tensors: what DLPack may leave out, and what frameworks hand over."""

from __future__ import annotations

from typing import Any

import pytest
import torch


@pytest.mark.parametrize(("dim", "stride"), [(0, 12), (1, 4), (2, 1), (-1, 1), (-3, 12)])
def test_missing_strides_are_those_of_a_contiguous_tensor(
    cuda_module: Any, dim: int, stride: int
) -> None:
    assert cuda_module.stride_without_strides(dim) == stride


def test_a_tensor_without_strides_is_contiguous(cuda_module: Any) -> None:
    assert cuda_module.contiguous_without_strides()


def test_data_starts_at_the_byte_offset(cuda_module: Any) -> None:
    assert cuda_module.first_at_offset(2) == 12


def test_negative_dimensions_count_from_the_last(cuda_module: Any) -> None:
    x = torch.ones(2, 3, 5)
    assert [cuda_module.size(x, dim) for dim in (-1, -2, -3)] == [5, 3, 2]


def test_strides_are_the_tensors_own(cuda_module: Any) -> None:
    assert cuda_module.stride(torch.ones(4, 8)[:, ::2], -1) == 2


@pytest.mark.parametrize(("shape", "count"), [((), 1), ((0, 3), 0), ((2, 3), 6)])
def test_numel_is_the_product_of_the_sizes(
    cuda_module: Any, shape: tuple[int, ...], count: int
) -> None:
    assert cuda_module.numel(torch.ones(shape)) == count


@pytest.mark.parametrize(
    "x",
    [
        torch.tensor(1.0),
        torch.ones(3, 4),
        torch.ones(3, 4)[1:],
        torch.ones(0, 4).t(),
        torch.ones(4, 8).as_strided((1, 8), (99, 1)),
    ],
    ids=["scalar", "matrix", "rows", "empty", "one row"],
)
def test_contiguous_tensors(cuda_module: Any, x: torch.Tensor) -> None:
    assert cuda_module.contiguous(x)


@pytest.mark.parametrize(
    "x",
    [torch.ones(3, 4).t(), torch.ones(4, 8)[:, :4], torch.ones(1).expand(3)],
    ids=["transposed", "columns", "expanded"],
)
def test_tensors_that_are_not_contiguous(cuda_module: Any, x: torch.Tensor) -> None:
    assert not cuda_module.contiguous(x)
