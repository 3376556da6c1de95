"""CUPTI's records, and how it is begun and ended."""

from __future__ import annotations

import pytest
import torch

from fictl.timing.activity import Activity, Recording


def test_work_is_known_by_the_call_that_launched_it(cupti, gpu):
    with Recording() as recording:
        gpu.launch("not ours", 1e-6)
        recording.run(7, lambda: gpu.launch("a", 1e-6))
        (one,) = recording.take() or []
    assert (one.name, one.call, one.end - one.start) == ("a", 7, 1000)


def test_a_fill_is_work_too(cupti, gpu):
    with Recording() as recording:
        recording.run(0, gpu.tensor().zero_)
        assert [one.name for one in recording.take() or []] == ["memset"]


def test_what_was_taken_is_not_taken_again(cupti, gpu):
    with Recording() as recording:
        recording.run(0, lambda: gpu.launch("a", 1e-6))
        recording.take()
        assert recording.take() == []


def test_dropped_records_spoil_what_is_there(cupti, gpu):
    with Recording() as recording:
        recording.run(0, lambda: gpu.launch("a", 1e-6))
        cupti.dropped = [1]
        assert recording.take() is None


@pytest.mark.needs_gpu
def test_a_gpu_says_when_its_work_began_and_ended():
    pytest.importorskip("cupti")
    x = torch.zeros(1 << 20, device="cuda")
    with Recording() as recording:
        recording.run(3, lambda: x.add_(1))
        torch.cuda.synchronize()
        (one,) = recording.take() or [Activity("", 0, 0, 0)]
    assert one.call == 3
    assert 500 < one.end - one.start < 1_000_000
