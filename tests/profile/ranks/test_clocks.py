"""The clocks of several ranks: one, several, or none that can be used."""

from __future__ import annotations

import time

import pytest

from fictl.errors import FictlError
from fictl.profile.ranks.clocks import (
    ClockReading,
    RankClock,
    common_clock,
    read_clock,
    require_inside,
)

from .conftest import EPOCH, clock


def test_a_clock_is_read_beside_the_hosts():
    reading = read_clock(lambda: time.monotonic_ns() + 5_000_000)
    assert abs(reading.offset - 5_000_000) <= reading.within + 1000


def test_the_closest_of_the_readings_is_kept(monkeypatch):
    slow = iter([0, 90, *[0, 4] * 63])
    monkeypatch.setattr(time, "monotonic_ns", lambda: next(slow))
    assert read_clock(lambda: 7) == ClockReading(7, 2, 2)


def test_records_of_one_clock_keep_their_times():
    common = common_clock([clock(EPOCH), clock(EPOCH + 300)])
    assert common.moved == 0
    assert common.time(1, EPOCH + 42) == EPOCH + 42


def test_a_clock_of_its_own_is_converted_to_that_of_the_first_rank():
    common = common_clock([clock(EPOCH), clock(EPOCH + 5_000_000)])
    assert common.moved == 5_000_000
    assert common.time(0, EPOCH + 42) == EPOCH + 42
    assert common.time(1, EPOCH + 5_000_042) == EPOCH + 42


def test_a_clock_that_runs_faster_is_converted_by_both_readings():
    fast = RankClock(ClockReading(0, 0, 100), ClockReading(10_001_000 * 2, 10_000_000, 100))
    common = common_clock([clock(0), fast])
    assert common.time(1, 10_001_000) == pytest.approx(5_000_000, abs=1)


def test_times_are_as_exact_as_the_readings():
    assert common_clock([clock(), clock()]).within == 200


def test_a_clock_that_goes_back_is_named():
    with pytest.raises(FictlError, match=r"rank 1: its clock went back by 10000\.0 us"):
        common_clock([clock(), clock(begin=10_000_000, end=0)])


def test_recordings_at_different_times_have_no_timeline():
    later = clock(begin=20_000_000, end=30_000_000)
    with pytest.raises(FictlError, match="recorded at different times by the host's clock"):
        common_clock([clock(), later])


@pytest.mark.parametrize(
    ("times", "why"),
    [
        ((EPOCH + 9, EPOCH + 3), "ends before it starts"),
        ((EPOCH - 2_000_000, EPOCH), "is outside of its recording"),
        ((EPOCH, EPOCH + 20_000_000), "is outside of its recording"),
        ((5, 9), "is outside of its recording"),
    ],
)
def test_work_by_another_clock_is_refused(times, why):
    with pytest.raises(FictlError, match=rf"rank 3: work at .* {why}"):
        require_inside(3, clock(), [(EPOCH + 1, EPOCH + 2), times])


def test_work_inside_of_its_recording_is_taken():
    require_inside(0, clock(), [(EPOCH - 900_000, EPOCH + 10_900_000)])
