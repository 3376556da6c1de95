"""Wrappers without kernels: `tensor_cores` and `cuda_cores` are what they launch instead."""

from __future__ import annotations

import pytest

from fictl.kernels.attention import _attention
from fictl.kernels.attention.decode import op as decode
from fictl.kernels.attention.prefill import op as prefill

from .recorded import Kernel


@pytest.fixture
def tensor_cores(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    made = Kernel()
    monkeypatch.setattr(prefill, "kernel", made)
    monkeypatch.setattr(decode, "_TENSOR_CORES", made)
    monkeypatch.setattr(_attention, "slots", lambda *_: 8)
    return made


@pytest.fixture
def cuda_cores(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    made = Kernel()
    monkeypatch.setattr(decode, "kernel", made)
    return made
