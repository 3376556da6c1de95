"""fictl's building blocks of Hopper together, as a GEMM: loads, products, registers, stores."""

from __future__ import annotations

import ctypes
import time

import pytest
import torch

SOURCE = "hopper_gemm.cu"


def gemm(library: ctypes.CDLL, m: int, n: int, k: int, *, b_is_k_major: bool) -> tuple:
    """Return the kernel's result, and torch's."""
    generator = torch.Generator().manual_seed(m + n + k)
    a, b = (torch.randn(rows, k, generator=generator).bfloat16() for rows in (m, n))
    expected = a.double() @ b.double().T
    b = b if b_is_k_major else b.T.contiguous()
    c = torch.full((m, n), torch.nan).bfloat16()
    pointers = (ctypes.c_void_p(x.data_ptr()) for x in (a, b, c))
    assert library.gemm(int(b_is_k_major), *pointers, m, n, k) == 0
    return c.double(), expected


@pytest.mark.parametrize("checked", [False, True], ids=["fast", "check"])
@pytest.mark.parametrize("b_is_k_major", [True, False], ids=["k-major", "mn-major"])
def test_a_gemm_is_right_in_every_schedule(
    emulate, device, schedule, checked, b_is_k_major
) -> None:
    library = emulate(SOURCE, checked=checked)
    device.run_under(schedule)
    for shape in [(128, 256, 256), (72, 264, 72)]:
        c, expected = gemm(library, *shape, b_is_k_major=b_is_k_major)
        assert [report.text() for report in device.take_reports()] == []
        torch.testing.assert_close(c, expected, rtol=1e-2, atol=1e-1)


def test_a_gemm_takes_less_than_a_second(emulate, device, schedule) -> None:
    library = emulate(SOURCE)
    device.run_under(schedule)
    begin = time.process_time()
    gemm(library, 128, 256, 256, b_is_k_major=True)
    assert time.process_time() - begin < 1
