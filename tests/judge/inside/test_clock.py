"""Clocks of GPU and host that differ: what CUPTI records is found all the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fictl.judge.inside import clock
from fictl.judge.inside.clock import CuptiClock, WorkedElsewhere
from fictl.timing.activity import Activity
from fictl.timing.timer import LaunchedNothing, Unusable

LAUNCH, KERNEL, WAKE = 5_000, 2_000, 8_000  # nanoseconds that each takes
SECOND = 1_000_000_000


class Gpu:
    """A GPU whose clock is ahead of the host's, and what CUPTI records of it."""

    def __init__(self, ahead: int) -> None:
        self.ahead, self.host, self.idle = ahead, 0, 0
        self.records: list[Activity] = []
        self.is_recorded = True

    def now(self) -> int:
        return self.host

    def take_all(self) -> list[Activity]:
        records, self.records = self.records, []
        return records

    def launch(self) -> None:
        start = self.host + LAUNCH
        self.idle = start + KERNEL
        if self.is_recorded:
            own = Activity("kernel", start + self.ahead, self.idle + self.ahead, -1)
            self.records.append(own)

    def wait(self) -> None:
        self.host = max(self.host, self.idle) + WAKE


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], tuple[Gpu, CuptiClock]]:
    def make(ahead: int) -> tuple[Gpu, CuptiClock]:
        gpu, cupti = Gpu(ahead), CuptiClock()
        monkeypatch.setattr(clock, "wait", gpu.wait)
        monkeypatch.setattr(clock, "_kernel", lambda: gpu.launch)
        monkeypatch.setattr(cupti, "_recording", gpu)
        cupti.compare(gpu.launch)
        return gpu, cupti

    return make


@pytest.mark.parametrize("ahead", [0, 12_000, -12_000, SECOND, -SECOND])
def test_a_call_is_timed_however_far_the_clocks_are_apart(ahead: int, on) -> None:
    gpu, cupti = on(ahead)
    for _ in range(3):
        cupti.begin()
        cupti.time(gpu.launch)
        gpu.launch()  # the harness's own copy, behind the call
        assert cupti.end().seconds == pytest.approx(KERNEL / SECOND)


@pytest.mark.parametrize("ahead", [0, SECOND])
def test_a_call_that_launches_nothing_is_told_from_one_that_does(ahead: int, on) -> None:
    _, cupti = on(ahead)
    cupti.begin()
    cupti.time(lambda: None)
    with pytest.raises(LaunchedNothing, match="launched nothing on the GPU"):
        cupti.end()


@pytest.mark.parametrize("ahead", [0, SECOND])
def test_work_before_the_call_is_told(ahead: int, on) -> None:
    gpu, cupti = on(ahead)
    cupti.begin()
    gpu.host += 100_000
    gpu.launch()
    gpu.host += 1_000_000
    cupti.time(gpu.launch)
    with pytest.raises(WorkedElsewhere):
        cupti.end()


def test_a_clock_that_was_set_since_is_nobody_s_fault(on) -> None:
    gpu, cupti = on(SECOND)
    gpu.ahead = 0
    for _ in range(2):
        cupti.begin()
        cupti.time(gpu.launch)
        claim = cupti.end()
    assert claim.timer == "cupti"


def test_the_call_in_which_it_was_set_has_the_host_s_time(on) -> None:
    gpu, cupti = on(SECOND)
    gpu.ahead = 0
    cupti.begin()
    cupti.time(gpu.launch)
    assert cupti.end().why == "CUPTI has set its clock"


def test_a_gpu_that_records_nothing_is_of_no_use(on) -> None:
    gpu, cupti = on(0)
    gpu.is_recorded = False
    with pytest.raises(Unusable, match="CUPTI records no kernel"):
        cupti.compare(gpu.launch)
