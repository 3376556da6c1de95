"""Occupancy: what there is, what could be, and what limits it."""

from __future__ import annotations

import pytest

from fictl.profile.ncu.digest.occupancy import occupancy

_ACHIEVED = "sm__warps_active.avg.pct_of_peak_sustained_active"
_POSSIBLE = "sm__maximum_warps_per_active_cycle_pct"


def limits(**blocks: float) -> dict[str, float]:
    every = {"registers": 32, "shared_mem": 32, "barriers": 32, "blocks": 32, "warps": 8, **blocks}
    return {f"launch__occupancy_limit_{name}": count for name, count in every.items()}


@pytest.mark.parametrize(
    ("blocks", "more", "said"),
    [
        ({"registers": 6}, {"launch__registers_per_thread": 40}, "registers (40 a thread"),
        ({"shared_mem": 2}, {"launch__shared_mem_per_block": 98304}, "shared memory (98.3 kB"),
        ({"blocks": 4}, {}, "blocks an SM"),
        ({}, {}, "the block's size (256 threads)"),
    ],
)
def test_the_limit_is_what_lets_the_fewest_blocks_in(launch, blocks, more, said) -> None:
    one = launch(**{_ACHIEVED: 70, _POSSIBLE: 75}, **limits(**blocks), **more)
    assert f"limited by {said}" in occupancy(one).text


def test_a_full_launch_has_no_limit(launch) -> None:
    remark = occupancy(launch(**{_ACHIEVED: 90, _POSSIBLE: 100}, **limits()))
    assert remark.text == "90 % of an SM's warps; the launch allows 100 %"
    assert remark.advice == ""


def test_few_warps_have_an_advice_for_their_limit(launch) -> None:
    one = launch(**{_ACHIEVED: 24, _POSSIBLE: 25}, **limits(registers=2))
    assert "__launch_bounds__" in occupancy(one).advice
    assert occupancy(one, at_ceiling=True).advice == ""


def test_much_less_than_the_launch_allows_is_uneven_work(launch) -> None:
    assert "equal work" in occupancy(launch(**{_ACHIEVED: 60, _POSSIBLE: 100})).advice


def test_of_a_small_grid_it_is_the_blocks_that_lack(launch) -> None:
    few = launch(**{_ACHIEVED: 6, _POSSIBLE: 100}, launch__waves_per_multiprocessor=0.2)
    assert occupancy(few).advice == ""


@pytest.mark.parametrize("metrics", [{}, {_ACHIEVED: 60}, {_POSSIBLE: 60}])
def test_without_both_numbers_nothing_is_said(launch, metrics) -> None:
    assert occupancy(launch(**metrics)) is None
