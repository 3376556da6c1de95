"""flashinfer.testing: times as a list of milliseconds, and what an attention computes."""

from __future__ import annotations

import math
import random

import pytest
import torch

from fictl.compat.flashinfer import testing


@pytest.fixture(autouse=True)
def _emulated(monkeypatch) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")


TIMERS = [
    testing.bench_gpu_time,
    testing.bench_gpu_time_with_cupti,
    testing.bench_gpu_time_with_cuda_event,
    testing.bench_gpu_time_with_cudagraph,
]


@pytest.mark.parametrize("timer", TIMERS, ids=lambda timer: timer.__name__)
def test_times_are_milliseconds_of_one_call(timer) -> None:
    seen = []

    def fn(x, scale=1):
        seen.append(scale)
        return x * scale

    times = timer(fn, 2, 7, input_args=(torch.ones(1000),), input_kwargs={"scale": 3})
    assert len(times) == 7
    assert all(isinstance(each, float) and 0 < each < 1000 for each in times)
    assert set(seen) == {3}


def test_without_a_number_time_decides() -> None:
    times = testing.bench_gpu_time(torch.neg, repeat_time_ms=30, input_args=(torch.ones(10),))
    assert len(times) > 1


def test_no_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="repeat_iters is 0"):
        testing.bench_gpu_time(torch.neg, repeat_iters=0, input_args=(torch.ones(1),))


def test_a_seed_repeats_random_numbers() -> None:
    def draw() -> tuple[float, float]:
        testing.set_seed(7)
        return random.random(), float(torch.rand(()))

    assert draw() == draw()


def test_operations_and_bytes_of_attention() -> None:
    # 1 query over 3 keys, 2 heads, dimensions 4 and 8: 2 * 3 * 2 * (4 + 8) operations.
    assert testing.attention_flops(1, 1, 3, 4, 8, 2, False) == 144
    # Causal, 2 over 3: the first sees 2, the second 3 keys; the diagonal counts half.
    assert testing.attention_flops(1, 2, 3, 4, 8, 2, True) == 2 * (3 + 3 - 2) * 2 * 12
    q, kv = torch.tensor([1, 2]), torch.tensor([3, 3])
    each = [testing.attention_flops(1, a, 3, 4, 8, 2, True) for a in (1, 2)]
    assert testing.attention_flops_with_actual_seq_lens(q, kv, 4, 8, 2, True) == sum(each)
    assert testing.attention_tflops_per_sec(1, 1, 3, 4, 8, 2, False, 1.0) == 144 / 1e9
    rate = testing.attention_tflops_per_sec_with_actual_seq_lens(q, kv, 4, 8, 2, True, 2.0)
    assert math.isclose(rate, sum(each) / 2e9)
    # q: 2 heads x 4, k and v: 3 tokens x 1 head x (4 + 8), out: 2 heads x 8; 2 bytes each.
    assert math.isclose(testing.attention_tb_per_sec(1, 1, 3, 4, 8, 2, 1, 1.0), 2 * 60 / 1e9)
    assert testing.attention_tb_per_sec(1, 1, 3, 4, 8, 2, 1, float("nan")) == 0.0
    with pytest.raises(ValueError, match="3 queries over 2 keys"):
        testing.attention_flops(1, 3, 2, 4, 8, 2, True)


def test_bytes_are_those_of_every_request() -> None:
    q, kv = torch.tensor([1, 2]), torch.tensor([3, 5])
    found = testing.attention_tb_per_sec_with_actual_seq_lens(q, kv, 4, 8, 2, 1, 1.0)
    assert math.isclose(found, testing.attention_tb_per_sec(1, 3, 8, 4, 8, 2, 1, 1.0))
