"""Asynchronous copies, swizzled places and products on tensor cores, on either device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from fictl.jit import JitSpec, gen_jit_spec
from fictl.op import KernelModule

SOURCES = Path(__file__).with_name("mma")
DTYPES = (torch.float16, torch.bfloat16)


def _module() -> JitSpec:
    flag = "-gencode=arch=compute_80,code=[sm_80,compute_80]"
    return gen_jit_spec(
        "mma", [SOURCES / "launcher.cu", SOURCES / "binding.cpp"], extra_cuda_cflags=[flag]
    )


@pytest.fixture(scope="module")
def kernel() -> Any:
    return KernelModule(_module)


@pytest.mark.parametrize("chunks", [1, 2, 4, 8, 16, 32])
def test_a_swizzled_tile_has_every_chunk_once_and_in_its_row(
    chunks: int, kernel: Any, device: str
) -> None:
    out = torch.empty(16, chunks, dtype=torch.int32, device=device)
    kernel.places(out, chunks)
    assert sorted(out.flatten().tolist()) == list(range(out.numel()))
    assert torch.equal(out.cpu() // chunks, torch.arange(16)[:, None].expand(16, chunks))


@pytest.mark.parametrize("chunks", [1, 2, 4, 8, 16, 32])
def test_a_chunk_of_eight_rows_lies_in_eight_groups_of_banks(
    chunks: int, kernel: Any, device: str
) -> None:
    out = torch.empty(16, chunks, dtype=torch.int32, device=device)
    kernel.places(out, chunks)
    for rows in out[:8], out[8:]:
        groups = (rows % 8).sort(dim=0).values
        assert torch.equal(groups.cpu(), torch.arange(8)[:, None].expand(8, chunks).int())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("b_along_n", [False, True])
def test_a_product_is_that_of_its_matrices(
    b_along_n: bool, dtype: torch.dtype, kernel: Any, device: str
) -> None:
    a, b = (torch.randn(16, 16, device=device).to(dtype) for _ in range(2))
    out = torch.empty(16, 16, device=device)
    kernel.product(out, a, b, 16, b_along_n)
    expected = a.double() @ (b if b_along_n else b.T).double()
    torch.testing.assert_close(out.double(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("valid", [0, 1, 7, 8, 9, 15])
def test_a_copy_reads_no_more_than_it_is_told_and_zeroes_the_rest(
    valid: int, kernel: Any, device: str
) -> None:
    a, b = (torch.randn(16, 16, device=device).half() for _ in range(2))
    a[:, valid:] = torch.nan
    out = torch.empty(16, 16, device=device)
    kernel.product(out, a, b, valid, False)
    expected = a[:, :valid].double() @ b[:, :valid].T.double()
    torch.testing.assert_close(out.double(), expected, rtol=1e-5, atol=1e-5)
