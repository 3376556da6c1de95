"""Products of mma.cuh, with their operands as ldmatrix.cuh loads them."""

from __future__ import annotations

from typing import Any

import pytest
import torch


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("b_along_n", [False, True])
def test_a_product_is_that_of_its_matrices(
    b_along_n: bool, dtype: torch.dtype, blocks: Any, device: str
) -> None:
    a, b = (torch.randn(16, 16, device=device).to(dtype) for _ in range(2))
    out = torch.empty(16, 16, device=device)
    blocks.product(out, a, b, b_along_n)
    expected = a.double() @ (b if b_along_n else b.T).double()
    torch.testing.assert_close(out.double(), expected, rtol=1e-5, atol=1e-5)
