"""The GPU that decides how many blocks it holds."""

from __future__ import annotations

import pytest

from fictl.profile.cupti.device import device


def test_its_limits_are_the_drivers(h200):
    found = device(0)
    assert (found.name, found.sms, found.limits.registers) == ("NVIDIA H200", 132, 65536)


def test_of_one_that_is_not_there_nothing_is_said(h200):
    assert device(3) is None


@pytest.mark.needs_gpu
def test_a_gpu_says_its_limits():
    import torch

    device.cache_clear()
    found, properties = device(0), torch.cuda.get_device_properties(0)
    assert found.sms == properties.multi_processor_count
    assert found.limits.threads == properties.max_threads_per_multi_processor
    assert found.limits.registers == properties.regs_per_multiprocessor
    assert found.limits.shared == properties.shared_memory_per_multiprocessor
    assert 16 <= found.limits.blocks <= 32
    assert found.limits.reserved_shared in (0, 1024)
