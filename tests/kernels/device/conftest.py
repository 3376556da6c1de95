"""The module of small kernels that shows what the blocks of device/*.cuh do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fictl.jit import JitSpec, gen_jit_spec
from fictl.op import KernelModule

SOURCES = Path(__file__).with_name("blocks")


def _module() -> JitSpec:
    flag = "-gencode=arch=compute_80,code=[sm_80,compute_80]"
    names = ("tiles.cu", "numbers.cu", "binding.cpp")
    return gen_jit_spec("blocks", [SOURCES / name for name in names], extra_cuda_cflags=[flag])


@pytest.fixture(scope="session")
def blocks() -> Any:
    return KernelModule(_module)
