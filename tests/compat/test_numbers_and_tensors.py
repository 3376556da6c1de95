"""The small functions of flashinfer.utils, by what they are for."""

from __future__ import annotations

import math

import pytest
import torch

from fictl.compat.flashinfer import utils


def test_numbers() -> None:
    assert [utils.ceil_div(x, 4) for x in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert [utils.round_up(x, 8) for x in (0, 1, 8, 9)] == [0, 8, 8, 16]
    assert [utils.next_positive_power_of_2(x) for x in (-3, 0, 1, 2, 3, 2**40 + 1)] == [
        1,
        1,
        1,
        2,
        4,
        2**41,
    ]
    assert [utils.last_positive_power_of_2(x) for x in (0, 1, 2, 3, 2**40 + 1)] == [
        0,
        1,
        2,
        2,
        2**40,
    ]
    assert utils.version_at_least("12.10", "12.9")
    assert not utils.version_at_least("12.8", "12.9")
    assert utils.version_at_least("12.9", "12.9.0")
    assert utils.version_at_least("2.11.0+cu130", "2.11")
    assert math.isclose(utils.log2e * utils.ln2, 1.0)


def test_dtypes() -> None:
    assert utils.canonicalize_torch_dtype("bfloat16") is torch.bfloat16
    assert utils.canonicalize_torch_dtype(torch.int8) is torch.int8
    for wrong in ("float17", "nn", "cat"):
        with pytest.raises(ValueError, match=wrong):
            utils.canonicalize_torch_dtype(wrong)
    with pytest.raises(TypeError):
        utils.canonicalize_torch_dtype(3)
    assert utils.is_float8(torch.zeros(1).to(torch.float8_e5m2))
    assert not utils.is_float8(torch.zeros(1))


def test_offsets() -> None:
    found = utils.get_indptr(torch.tensor([2, 0, 3], dtype=torch.int32))
    assert (found.tolist(), found.dtype) == ([0, 2, 2, 5], torch.int64)
    assert utils.get_indptr(torch.tensor([], dtype=torch.int32)).tolist() == [0]


@pytest.mark.parametrize("heads", [1, 2, 8, 12, 31, 32])
def test_slopes_are_those_that_the_kernels_use(heads: int) -> None:
    """2^(-8 (h + 1) / n) of the power of two n; beyond it, every second of 2n's."""
    n = 2 ** int(math.log2(heads))
    first = [2 ** (-8 * (h + 1) / n) for h in range(n)]
    second = [2 ** (-8 * (h + 1) / (2 * n)) for h in range(0, 2 * (heads - n), 2)]
    found = utils.get_alibi_slopes(heads)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, torch.tensor(first + second))


def test_a_tensor_that_is_not_as_expected_is_named() -> None:
    x = torch.zeros(2, 3)
    utils.check_shape_dtype_device(x, (2, 3), torch.float32, torch.device("cpu"), "x")
    utils.check_shape_dtype_device(x, None, None, None, "x")
    for wrong in (
        ((3, 2), None, None),
        (None, torch.int8, None),
        (None, None, torch.device("meta")),
    ):
        with pytest.raises(ValueError, match=r"x has the (shape|dtype|device) .*, expected"):
            utils.check_shape_dtype_device(x, *wrong, "x")
