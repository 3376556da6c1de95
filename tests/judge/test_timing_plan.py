"""TimingPlan: how many calls are timed."""

from __future__ import annotations

import pytest

from fictl.judge.timing_plan import TimingPlan


@pytest.mark.parametrize(
    ("seconds", "plan"),
    [
        (0.0, TimingPlan(3, 50, 3)),
        (1e-5, TimingPlan(3, 50, 3)),
        (0.05, TimingPlan(3, 40, 3)),
        (0.5, TimingPlan(0, 4, 3)),
        (20.0, TimingPlan(0, 1, 1)),
    ],
)
def test_what_is_slow_is_timed_less_often(seconds: float, plan: TimingPlan) -> None:
    assert TimingPlan.of(seconds, 50, 3, "cpu") == plan


@pytest.mark.parametrize(("turn", "count"), [(0.0, 50), (1e-4, 50), (3e-3, 20), (0.1, 10)])
def test_turns_that_take_longer_than_their_calls_are_fewer_on_a_gpu(
    turn: float, count: int
) -> None:
    assert TimingPlan.of(1e-5, 50, 3, "cuda", turn).count == count
    assert TimingPlan.of(1e-5, 50, 3, "cpu", turn).count == 50


@pytest.mark.parametrize(("seconds", "count"), [(1e-3, 50), (0.05, 4), (0.5, 1)])
def test_emulated_calls_are_few(seconds: float, count: int) -> None:
    """Their times say nothing of a GPU."""
    assert TimingPlan.of(seconds, 50, 3, "emu").count == count
