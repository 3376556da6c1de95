"""Lines of launches that are alike."""

from __future__ import annotations

import pytest

from fictl.profile.cupti.summarise import summarise
from fictl.profile.cupti.work import BETWEEN


def nobody(index: int) -> None:
    return None


def test_launches_that_are_alike_are_one_line(kernel):
    work = [kernel(end=10), kernel(start=20, end=32, call=1), kernel(start=40, end=51, call=2)]
    (row,) = summarise("s", work, [], nobody).kernels
    assert (row.name, row.launches) == ("k", 1)
    assert (row.median, row.share) == (pytest.approx(11e-6), pytest.approx(1.0))


@pytest.mark.parametrize(
    "change", [{"grid": (2, 1, 1)}, {"dynamic_shared": 1024}, {"name": "other"}, {"registers": 64}]
)
def test_a_launch_that_differs_has_a_line_of_its_own(kernel, change):
    summary = summarise("s", [kernel(), kernel(start=20, end=30, **change)], [], nobody)
    assert len(summary.kernels) == 2


def test_what_lies_between_calls_is_left_out(kernel, copy, api_call):
    work = [copy(name="fill", call=BETWEEN), kernel(start=10, end=20)]
    summary = summarise("s", work, [api_call(call=BETWEEN)], nobody)
    assert (summary.copies, summary.host, summary.spans) == ((), (), (pytest.approx(10e-6),))


def test_time_in_which_nothing_runs_is_a_gap_after_what_ran_last(kernel, copy):
    work = [
        kernel("a", 0, 10),
        kernel("inside a", 2, 4),
        copy(12, 20),
        kernel("b", 25, 30),
        kernel("next call", 100, 101, call=1),
    ]
    summary = summarise("s", work, [], nobody)
    assert summary.idle == (pytest.approx(7e-6), 0)
    assert (summary.longest_gap, summary.after) == (pytest.approx(5e-6), "host to device")


def test_launches_that_overlap_are_said_and_shares_are_of_all_they_take(kernel):
    work = [
        kernel("a", 0, 10),
        kernel("b", 8, 12),
        kernel("a", 10, 22, call=1),
        kernel("b", 20, 24, call=1),
    ]
    summary = summarise("s", work, [], nobody)
    assert summary.overlap == pytest.approx(3e-6)
    assert sum(row.share for row in summary.kernels) == pytest.approx(1.0)


def test_a_copy_has_its_bytes_and_rate(copy):
    (row,) = summarise("s", [copy(end=10, bytes=40_000)], [], nobody).copies
    assert (row.bytes, row.gbps) == (40_000, pytest.approx(4.0))


def test_calls_of_the_host_stand_by_the_time_they_take(api_call, kernel):
    api = [api_call(end=1, name="short"), api_call(end=3), api_call(start=5, end=8)]
    rows = summarise("s", [kernel()], api, nobody).host
    assert [(row.name, row.launches) for row in rows] == [("cudaLaunchKernel", 2), ("short", 1)]
    assert rows[0].share == pytest.approx(6 / 7)


def test_occupancy_and_waves_are_of_the_gpu_it_ran_on(kernel, h200):
    (row,) = summarise("s", [kernel(registers=64)], [], lambda index: h200).kernels
    assert (row.occupancy, row.limits, row.blocks_per_sm) == (0.5, ("registers",), 4)
    assert row.waves == 2.0


def test_of_a_gpu_that_is_not_known_they_are_not_said(kernel):
    (row,) = summarise("s", [kernel()], [], nobody).kernels
    assert row.occupancy is row.waves is None


def test_nothing_at_all_is_an_empty_summary():
    summary = summarise("s", [], [], nobody)
    assert (summary.calls, summary.median, summary.longest_gap) == (0, 0.0, 0.0)
