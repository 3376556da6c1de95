"""Who started late, who waited for it, and who was the slowest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fictl.profile.cupti.work import BETWEEN, Copy
from fictl.profile.ranks.clocks import common_clock
from fictl.profile.ranks.statistics import RankCall, calls_of, row_of, spans_of

from .conftest import EPOCH, clock, kernel


def call(*spans: tuple[int, int]) -> RankCall:
    return RankCall(spans)


def test_the_rank_that_starts_last_waits_for_nobody():
    late = call((0, 100), (40, 110), (10, 105))
    assert [late.skew(rank) for rank in range(3)] == [0, 40, 10]
    assert (late.latest, late.slowest) == (1, 0)
    assert [late.wait(rank) for rank in range(3)] == [30, 0, 25]


def test_a_rank_that_ends_before_the_last_one_has_waited_for_nothing():
    assert call((0, 10), (5, 50)).wait(0) == 0


@pytest.mark.parametrize(("end", "ordered"), [(40, True), (39, False)])
def test_an_end_before_a_start_is_seen(end, ordered):
    assert call((0, end), (40, 90)).is_ordered is ordered


def test_a_span_is_of_all_work_of_its_call_and_of_no_other():
    work = [kernel(0, 10, 0), kernel(12, 20, 0), kernel(25, 30, 1), kernel(-9, -3, BETWEEN)]
    assert spans_of(work) == {
        0: (EPOCH, EPOCH + 20_000),
        1: (EPOCH + 25_000, EPOCH + 30_000),
    }


def test_a_row_has_a_value_of_each_call():
    ranks = [
        [kernel(0, 10, 0), kernel(20, 30, 1)],
        [kernel(4, 12, 0), kernel(19, 32, 1)],
    ]
    common = common_clock([clock(), clock()])
    calls = calls_of([spans_of(work) for work in ranks], common)
    copy = Copy("fill", EPOCH, EPOCH + 1, 0, 9, 0, 7, 0, bytes=4)
    row = row_of(1, "H200", calls, [*ranks[1], copy])
    assert row.seconds == pytest.approx((8e-6, 13e-6))
    assert row.kernels == pytest.approx((8e-6, 13e-6))
    assert row.skew == pytest.approx((4e-6, 0))
    assert row.waits == pytest.approx((0, 3e-6))
    assert (row.slowest, row.latest) == (1, 1)


def test_times_of_other_clocks_are_those_of_the_first():
    late = 7_000_000
    common = common_clock([clock(), clock(EPOCH + late)])
    other = [replace(entry, call=0) for entry in [kernel(4, 12, 0, EPOCH + late)]]
    (only,) = calls_of([spans_of([kernel(0, 10)]), spans_of(other)], common).values()
    assert only.skew(1) == 4_000
