"""What a call costs the CPU."""

from __future__ import annotations

import pytest
import torch

from fictl.timing import host_overhead as module
from fictl.timing.host_overhead import host_overhead


class Clock:
    """Time that passes only where a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(module, "time", found)
    return found


def test_it_is_the_time_until_a_call_returns(clock):
    seconds = host_overhead(lambda: clock.pass_by(0.0002), device="cpu")
    assert seconds == pytest.approx(0.0002)


def test_it_waits_for_the_gpu_before_the_clock_runs_only(clock, monkeypatch):
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: clock.pass_by(0.01))
    assert host_overhead(lambda: clock.pass_by(1e-6)) == pytest.approx(1e-6)
