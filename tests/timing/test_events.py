"""Pairs of events as a timer."""

from __future__ import annotations

import pytest
import torch

from fictl.timing.events import Events
from fictl.timing.rotation import Rotation

US = 1e-6


def test_a_round_is_the_mean_of_its_calls(gpu):
    calls = tuple(lambda us=us: gpu.launch("a", us * US) for us in (3, 5))
    with Events() as timer:
        assert timer.time(Rotation("op", calls, cold=True)) == pytest.approx(4.1 * US)


def test_a_flush_before_each_call_is_no_part_of_it(rotate):
    with Events() as timer:
        assert timer.time(rotate(("a", 5 * US), flush=True)) == pytest.approx(5.1 * US)


def test_the_gpu_waits_for_every_64_launches(rotate, monkeypatch):
    waits: list[int] = []
    monkeypatch.setattr(torch.cuda, "_sleep", waits.append)
    with Events() as timer:
        timer.time(rotate(("a", US), copies=130))
    assert len(waits) == 3
    assert all(cycles > 0 for cycles in waits)


@pytest.mark.needs_gpu
def test_a_gpu_is_timed_without_the_gaps_between_launches():
    x = torch.zeros(1 << 20, device="cuda")
    rotation = Rotation("op", (lambda: x.add_(1),) * 20, cold=False)
    with Events() as timer:
        timer.time(rotation)
        assert 5e-7 < timer.time(rotation) < 2e-5
