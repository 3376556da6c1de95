"""TimingPlan: how many calls are timed."""

from __future__ import annotations

import pytest

from fictl.judge.timing_plan import TimingPlan, warm_ups


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


@pytest.mark.parametrize(
    ("turn", "seconds", "plan"),
    [
        (0.0, 1e-5, TimingPlan(3, 50, 3, at_once=True)),
        (1e-4, 1e-5, TimingPlan(3, 50, 3, at_once=True)),
        (3e-3, 1e-5, TimingPlan(3, 10, 3, at_once=True)),
        (0.015, 1e-5, TimingPlan(2, 4, 3, at_once=True)),
        (0.1, 1e-5, TimingPlan(0, 5, 1, at_once=True)),
        (0.0, 0.1, TimingPlan(0, 5, 1, at_once=True)),
        (0.1, 0.6, TimingPlan(0, 1, 1, at_once=True)),
    ],
)
def test_a_gpu_has_one_batch_planned_by_whole_turns(
    turn: float, seconds: float, plan: TimingPlan
) -> None:
    assert TimingPlan.of(seconds, 50, 3, "cuda:0", turn) == plan
    assert plan.passes == 1
    assert plan.timed == plan.count * plan.trials
    assert plan.trials <= plan.clocked <= plan.timed <= 3 * plan.clocked


@pytest.mark.parametrize("turn", [1e-4, 3e-3, 0.015, 0.019])
def test_turns_of_a_gpu_take_little_time_and_are_enough_for_a_median(turn: float) -> None:
    plan = TimingPlan.of(1e-5, 50, 3, "cuda", turn)
    assert plan.timed >= 12
    assert (plan.timed + plan.lead) * turn < 0.3


@pytest.mark.parametrize(("count", "trials"), [(1, 1), (2, 1), (1, 3), (3, 2)])
@pytest.mark.parametrize("turn", [0.0, 1e-3, 0.5])
def test_nobody_times_more_than_was_asked_for(count: int, trials: int, turn: float) -> None:
    plan = TimingPlan.of(1e-5, count, trials, "cuda", turn)
    assert 1 <= plan.timed <= count * trials


@pytest.mark.parametrize("device", ["cuda", "cuda:1", "emu", "cpu"])
@pytest.mark.parametrize("seconds", [0.0, 1e-5, 0.04, 0.3, 30.0])
def test_warming_up_is_short_and_never_left_out(device: str, seconds: float) -> None:
    count = warm_ups(seconds, 8, device, seconds)
    assert 1 <= count <= 8
    assert warm_ups(seconds, 0, device, seconds) == 0
    if device != "cpu":
        assert count == 1 or count * seconds <= 0.05


@pytest.mark.parametrize(("seconds", "count"), [(1e-3, 50), (0.05, 4), (0.5, 1)])
def test_emulated_calls_are_few(seconds: float, count: int) -> None:
    """Their times say nothing of a GPU."""
    plan = TimingPlan.of(seconds, 50, 3, "emu")
    assert (plan.count, plan.trials) == (count, 1)
