"""No kernel of attention keeps registers in memory: the configurations that need most of them."""

from __future__ import annotations

import pytest
import torch

from fictl.arch import Arch
from fictl.inspect.gate import check, parse_gates
from fictl.inspect.metrics import LaunchSize
from fictl.inspect.modules import inspect_specs
from fictl.jit.progress import LogObserver
from fictl.kernels.attention._config import Config
from fictl.kernels.attention.prefill.jit import module
from fictl.toolchain import find_tool

HALF, BF16 = torch.float16, torch.bfloat16
CONFIGS = (
    Config(BF16, BF16, BF16, 128, True, 16),
    Config(BF16, BF16, BF16, 128, True, 128),
    Config(HALF, HALF, HALF, 256, True, 64, rope=True),
    Config(BF16, BF16, BF16, 64, True, 192, backend="sm90", keys=128),
    Config(BF16, BF16, BF16, 128, True, 128, backend="sm90", keys=128, soft_cap=True),
    Config(BF16, BF16, BF16, 256, True, 128, backend="sm90", keys=64, custom_mask=True),
    Config(BF16, BF16, BF16, 192, False, 128, head_dim_v=128),
    Config(BF16, BF16, BF16, 512, True, 64),
)


@pytest.mark.needs_nvcc
@pytest.mark.parametrize(
    "config", CONFIGS, ids=lambda each: f"{each.backend}-{each.rows}x{each.head_dim}"
)
def test_nothing_is_spilled(config: Config) -> None:
    if find_tool("nvdisasm") is None:
        pytest.skip("needs nvdisasm")
    (found,) = inspect_specs([module(config)], (Arch(9, 0, "a"),), LogObserver())
    assert found.error is None
    gates = parse_gates(["spill_bytes==0, local_bytes==0"])
    assert [str(each) for each in check(gates, found, LaunchSize())] == []
    assert found.kernels
