"""Keeping a GPU busy while the host enqueues."""

from __future__ import annotations

import pytest
import torch

from fictl.timing.lead import lead


@pytest.mark.parametrize(
    ("seconds", "least", "most"),
    [
        (0.0, 10e-6, 100e-6),
        (1e-3, 1e-3, 4e-3),
        (10.0, 10e-3, 50e-3),  # a host that waited for the GPU is not waited for
    ],
)
def test_the_gpu_waits_longer_than_the_host_needs(monkeypatch, seconds, least, most):
    cycles: list[int] = []
    monkeypatch.setattr(torch.cuda, "_sleep", cycles.append)
    lead(seconds)
    assert least <= cycles[0] / 2e9 <= most
