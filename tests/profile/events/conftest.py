"""kernels.cu and other.cu as one module that records: of the emulated device, and of a GPU."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

import pytest

from fictl.jit import gen_jit_spec
from fictl.jit.emulation import emulated_device

HERE = Path(__file__).parent
CACHE = os.environ.get("FICTL_WORKSPACE_BASE", "")


def _built(device: str) -> ctypes.CDLL:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FICTL_DEVICE", device)
        patch.setenv("FICTL_JIT_PROFILE", "1")
        patch.setenv("FICTL_WORKSPACE_BASE", CACHE)
        module = gen_jit_spec("events", [HERE / "kernels.cu", HERE / "other.cu"]).build().module
    return ctypes.CDLL(str(module))


@pytest.fixture(scope="session")
def library() -> ctypes.CDLL:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FICTL_WORKSPACE_BASE", CACHE)
        emulated_device()
    return _built("emu")


@pytest.fixture(scope="session")
def gpu_library() -> ctypes.CDLL:
    return _built("cuda")
