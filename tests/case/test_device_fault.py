"""A GPU whose context is gone, and memory that is used up, told from a test's own failure."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
import torch

from fictl.case.device_fault import device_fault, is_out_of_memory


def faked(is_initialized: bool, error: Exception | None = None) -> SimpleNamespace:
    def synchronize() -> None:
        if error:
            raise error

    cuda = SimpleNamespace(is_initialized=lambda: is_initialized, synchronize=synchronize)
    return SimpleNamespace(cuda=cuda)


def raised_from(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def test_a_context_that_is_gone_answers_with_its_fault(monkeypatch) -> None:
    fault = RuntimeError("CUDA error: an illegal memory access was encountered")
    monkeypatch.setitem(sys.modules, "torch", faked(True, fault))
    assert device_fault() is fault


@pytest.mark.parametrize("torch", [None, faked(False, RuntimeError("asked")), faked(True)])
def test_no_torch_no_context_or_a_sound_one_is_no_fault(monkeypatch, torch) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert device_fault() is None


@pytest.mark.parametrize(
    ("error", "is_memory"),
    [
        (MemoryError(), True),
        (torch.OutOfMemoryError("CUDA out of memory"), True),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"), True),
        (RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9"), True),
        (RuntimeError("CUDA error: out of memory"), True),
        (RuntimeError("CUDA out of memory. Tried to allocate 9.00 GiB"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate`"), True),
        (raised_from(ValueError("backend failed"), MemoryError("9 TB")), True),
        (raised_from(ValueError("backend failed"), KeyError("x")), False),
        (AssertionError("CUDA out of memory"), False),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), False),
        (None, False),
    ],
)
def test_out_of_memory_is_told_from_other_errors(error, is_memory: bool) -> None:
    assert is_out_of_memory(error) is is_memory
