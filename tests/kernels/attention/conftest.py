"""Wrappers without kernels: `tensor_cores` and `cuda_cores` are what they launch instead."""

from __future__ import annotations

import pytest

from fictl.kernels.attention._plan import attention
from fictl.kernels.attention.decode import op as decode
from fictl.kernels.attention.prefill import op as prefill
from fictl.kernels.attention.single import op as single

from .recorded import Kernel


@pytest.fixture
def tensor_cores(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    kernel = Kernel()
    for wrapper in (
        prefill.BatchPrefillWithRaggedKVCacheWrapper,
        prefill.BatchPrefillWithPagedKVCacheWrapper,
    ):
        monkeypatch.setattr(wrapper, "kernel", kernel)
    monkeypatch.setattr(decode.BatchDecodeWithPagedKVCacheWrapper, "tensor_cores", kernel)
    monkeypatch.setattr(single, "_KERNEL", kernel)
    monkeypatch.setattr(attention, "blocks_at_once", lambda *_: 8)
    # Plans of tensors on the CPU are for the emulated device, also where there is a GPU.
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    return kernel


@pytest.fixture
def cuda_cores(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    kernel = Kernel()
    monkeypatch.setattr(decode.BatchDecodeWithPagedKVCacheWrapper, "cuda_cores", kernel)
    return kernel
