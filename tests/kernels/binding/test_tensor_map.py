"""Tensor maps that cannot be made are refused with the op, the argument and the rule."""

from __future__ import annotations

from typing import Any

import pytest
import torch

_ADVICE = "pass a copy whose rows are padded to multiples of 16 bytes"


def test_a_stride_that_is_no_multiple_of_16_bytes_is_refused(cuda_module: Any) -> None:
    text = (
        "attend: argument 'weight' is not a tensor that bulk copies can address: "
        rf"a stride of 52 bytes in dimension 1: .*; {_ADVICE}$"
    )
    with pytest.raises(ValueError, match=text):
        cuda_module.tensor_map(torch.ones(8, 13), 8, 13, 13)


def test_an_address_that_is_no_multiple_of_16_bytes_is_refused(cuda_module: Any) -> None:
    with pytest.raises(ValueError, match=rf"'weight' .*the address 0x\w+ .*; {_ADVICE}$"):
        cuda_module.tensor_map(torch.ones(8, 16)[:, 1:], 8, 15, 16)


def test_more_rows_than_a_copy_can_count_are_refused(cuda_module: Any) -> None:
    with pytest.raises(ValueError, match=r"'weight' has 2147483648 elements .*2147483647: split"):
        cuda_module.tensor_map(torch.ones(8, 16), 1 << 31, 16, 16)
