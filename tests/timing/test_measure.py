"""Sides against each other, round by round."""

from __future__ import annotations

import time

import pytest
import torch

from fictl.errors import InvalidValue, SetupError
from fictl.timing.measure import measure
from fictl.timing.side import Side
from fictl.timing.stop import Stop
from fictl.timing.timer import LaunchedNothing, Unusable

MIB = 1 << 20
US = 1e-6
FOUR = Stop(min_rounds=4, max_rounds=4, min_seconds=0.0)


@pytest.fixture
def side(gpu):
    def make(name: str, seconds: float, working_set: int = 200 * MIB) -> Side:
        return Side(lambda index: lambda: gpu.launch(name, seconds), working_set)

    return make


def test_each_side_gets_a_sample_a_round(cupti, side):
    found = measure({"a": side("a", 3 * US), "b": side("b", 4 * US)}, stop=FOUR)
    assert found["a"].seconds == pytest.approx([3 * US] * 4)
    assert found["b"].seconds == pytest.approx([4 * US] * 4)


def test_a_sample_says_how_it_was_taken(cupti, side):
    samples = measure({"a": side("a", 3 * US)}, stop=FOUR)["a"]
    assert (samples.timer, samples.cold, samples.copies, samples.why) == ("cupti", True, 2, "")
    assert [kernel.name for kernel in samples.kernels] == ["a"]


def test_the_sides_take_turns_at_being_first(cupti, gpu, side):
    measure({"a": side("a", 600 * US), "b": side("b", 600 * US)}, stop=FOUR)
    turns = "".join(gpu.launches[-16::2])  # two copies each
    assert turns == "abbaabba"


def test_progress_is_told_each_round(cupti, side):
    rounds: list[int] = []
    measure({"a": side("a", US)}, stop=FOUR, progress=rounds.append)
    assert rounds == [1, 2, 3, 4]


def test_the_next_timer_is_used_for_every_side_and_says_why(no_cupti, side):
    found = measure({"a": side("a", 400 * US), "b": side("b", 400 * US)}, stop=FOUR)
    assert {samples.timer for samples in found.values()} == {"graph"}
    assert "cupti: no CUPTI" in found["b"].why


def test_what_does_not_capture_is_timed_by_events_with_both_reasons(no_cupti, gpu):
    def make(index: int):
        def waits() -> None:
            if gpu.capturing is not None:
                raise RuntimeError("not permitted")
            gpu.launch("a", 9 * US)

        return waits

    samples = measure({"a": Side(make, 200 * MIB)}, stop=FOUR)["a"]
    assert samples.timer == "events"
    assert samples.seconds == pytest.approx([9.1 * US] * 4)
    assert "cupti: no CUPTI" in samples.why
    assert "graph: a does not go into a CUDA graph" in samples.why


def test_a_timer_asked_for_by_name_is_not_replaced(no_cupti, side):
    with pytest.raises(Unusable, match="cupti: no CUPTI"):
        measure({"a": side("a", US)}, timer="cupti")


def test_a_side_that_launches_nothing_is_named(cupti, side):
    with pytest.raises(LaunchedNothing, match="idle"):
        measure({"busy": side("a", US), "idle": Side(lambda index: lambda: None, MIB)})


def test_small_data_are_cold_after_a_flush(cupti, gpu, side):
    samples = measure({"a": side("a", US, working_set=1024)}, stop=FOUR)["a"]
    assert samples.cold
    assert "flush" in gpu.launches
    assert samples.seconds == pytest.approx([US] * 4)


def test_warm_on_request(cupti, gpu, side):
    samples = measure({"a": side("a", US, working_set=1024)}, cold=False, stop=FOUR)["a"]
    assert (samples.cold, samples.copies) == (False, 1)
    assert "flush" not in gpu.launches


def test_a_cpu_is_timed_by_the_clock_of_the_host():
    sides = {"sleep": Side(lambda index: lambda: time.sleep(0.001), 0)}
    samples = measure(sides, device="cpu", stop=FOUR)["sleep"]
    assert (samples.timer, samples.cold, samples.copies) == ("host", False, 1)
    assert samples.median >= 0.001


def test_it_ends_when_time_is_up():
    sides = {"sleep": Side(lambda index: lambda: time.sleep(0.01), 0)}
    samples = measure(sides, device="cpu", stop=Stop(stdrel=0.0, max_seconds=0.05))["sleep"]
    assert len(samples.seconds) <= 6


def test_without_a_gpu_it_says_so(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SetupError, match="no GPU to time on"):
        measure({"a": Side(lambda index: lambda: None, MIB)})


def test_no_side_is_refused():
    with pytest.raises(InvalidValue, match="no side"):
        measure({})


@pytest.mark.needs_gpu
@pytest.mark.parametrize("timer", ["auto", "graph", "events"])
def test_a_gpu_copies_no_faster_than_its_memory(timer):
    def make(index: int):
        source = torch.ones(32 << 20, device="cuda")
        target = torch.empty_like(source)
        return lambda: torch.neg(source, out=target)

    samples = measure({"neg": Side(make, 256 << 20)}, timer=timer)["neg"]
    assert samples.cold
    assert 1e10 < (256 << 20) / samples.median < 2e13


@pytest.mark.needs_gpu
def test_a_gpu_is_slower_when_its_cache_is_cold():
    def make(index: int):
        data = torch.ones(1 << 18, device="cuda")
        return lambda: data.add_(1)

    side = Side(make, 2 << 20)
    cold, warm = (measure({"add": side}, cold=cold)["add"].median for cold in (True, False))
    assert cold > 1.05 * warm
