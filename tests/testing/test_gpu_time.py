"""The time of one function, in one line."""

from __future__ import annotations

import time

import pytest
import torch

from fictl.errors import InvalidValue
from fictl.testing import bench_gpu_time
from fictl.testing.gpu_time import _bytes, _copied


@pytest.fixture
def emulated(monkeypatch):
    monkeypatch.setenv("FICTL_DEVICE", "emu")


def test_median_and_deviation_are_in_seconds(emulated):
    x = torch.zeros(3)
    median, std = bench_gpu_time(lambda x: time.sleep(0.001), (x,), num_iters=5)
    assert 0.001 <= median < 0.01
    assert 0 <= std < 0.01


def test_the_samples_say_how_they_were_taken(emulated):
    timed = bench_gpu_time(torch.neg, (torch.zeros(9),), repeat_iters=7)
    assert len(timed.samples.seconds) == 7
    assert (timed.samples.timer, timed.samples.cold) == ("host", False)


def test_it_calls_with_the_arguments_by_position_and_by_name(emulated):
    x, out = torch.ones(9), torch.zeros(9)
    bench_gpu_time(torch.mul, (x, 3.0), kwargs={"out": out}, num_iters=1)
    assert out.sum() == 27


def test_dry_runs_come_first(emulated):
    calls: list[int] = []
    bench_gpu_time(lambda x: calls.append(1), (torch.zeros(1),), num_iters=1, dry_run_iters=50)
    assert len(calls) > 50


def test_no_samples_are_refused(emulated):
    with pytest.raises(InvalidValue, match="0 samples"):
        bench_gpu_time(torch.neg, (torch.zeros(9),), num_iters=0)


def test_tensors_on_the_cpu_are_no_work_for_a_gpu():
    with pytest.raises(ValueError, match=r"CPU(.|\n)*CUDA"):
        bench_gpu_time(torch.neg, (torch.zeros(9),))


def test_without_a_gpu_a_function_of_no_tensors_is_refused_too(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="no CUDA device"):
        bench_gpu_time(lambda: None)


def test_a_copy_has_the_strides_of_what_it_copies():
    x = torch.arange(12.0).reshape(3, 4).t()[1:]
    copy = _copied(x, {})
    assert (copy.stride(), copy.storage_offset()) == (x.stride(), x.storage_offset())
    assert torch.equal(copy, x)
    assert copy.data_ptr() != x.data_ptr()


def test_what_shares_memory_shares_it_in_the_copy():
    x = torch.zeros(4)
    first, (again, tail) = _copied([x, (x, x[2:])], {})
    first[3] = 7
    assert again[3] == 7
    assert tail[1] == 7
    assert x[3] == 0


def test_an_expanded_tensor_can_be_copied():
    assert _copied(torch.ones(1).expand(5), {}).stride() == (0,)


def test_memory_that_is_shared_counts_once():
    x = torch.zeros(1024)
    assert _bytes([x, x, x[:10], torch.ones(1).expand(100)]) == 4096 + 4


@pytest.mark.needs_gpu
def test_on_a_gpu_tensors_are_rotated_and_closures_flushed():
    x = torch.zeros(1 << 20, device="cuda")
    rotated = bench_gpu_time(torch.neg, (x,)).samples
    flushed = bench_gpu_time(lambda: torch.neg(x)).samples
    assert rotated.cold
    assert flushed.cold
    assert rotated.copies > 2
    assert rotated.median == pytest.approx(flushed.median, rel=0.5)
