"""Elements of 8 bits: widened to 16, and transposed for the product with weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from fictl.jit import JitSpec, gen_jit_spec
from fictl.op import KernelModule

HERE = Path(__file__).parent
E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2


def _module() -> JitSpec:
    sources = [HERE / "hopper_bytes.cu", HERE / "hopper_bytes.cpp"]
    flag = "-gencode=arch=compute_90a,code=sm_90a"
    return gen_jit_spec("hopper_bytes", sources, extra_cuda_cflags=[flag])


@pytest.fixture(scope="module")
def module() -> Any:
    return KernelModule(_module)


@pytest.mark.parametrize(("rows", "columns"), [(64, 128), (128, 64), (128, 128), (256, 64)])
def test_weights_meet_the_values_of_their_rows(
    rows: int, columns: int, module: Any, device: str
) -> None:
    """Sums of small integers, so that one number in another place is seen."""
    p = torch.randint(-8, 9, (64, rows)).float()
    v = torch.randint(-8, 9, (rows, columns)).float()
    out = torch.full((64, columns), torch.nan, device=device)
    module.weigh(out, p.to(device), v.to(E4M3).to(device))
    assert torch.equal(out.cpu(), p @ v)


@pytest.mark.parametrize("to", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("dtype", [E4M3, E5M2])
@pytest.mark.parametrize("finite", [False, True])
def test_every_value_is_widened_exactly(
    finite: bool, dtype: torch.dtype, to: torch.dtype, module: Any, device: str
) -> None:
    """All 256 of them: subnormal ones, infinities and NaN too; finite ones go another way alone."""
    x = torch.arange(256, dtype=torch.uint8).view(dtype)
    if finite:
        x = torch.where(x.float().isfinite(), x.float(), -0.0).to(dtype)
    out = torch.empty(256, dtype=to, device=device)
    module.widen(out, x.to(device))
    torch.testing.assert_close(out.cpu(), x.to(to), rtol=0, atol=0, equal_nan=True)
