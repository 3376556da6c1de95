"""What a call costs the CPU."""

from __future__ import annotations

import time

import torch

from fictl.timing.host_overhead import host_overhead


def test_it_is_the_time_until_a_call_returns():
    seconds = host_overhead(lambda: time.sleep(0.0002), device="cpu")
    assert 0.0002 <= seconds < 0.002


def test_it_waits_for_the_gpu_before_the_clock_runs_only(monkeypatch):
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: time.sleep(0.01))
    assert host_overhead(lambda: None) < 0.0001
