"""Which seeds turns get, and how many of them there are."""

from __future__ import annotations

import pytest

from fictl.judge.seeds import Seeds
from fictl.judge.timing_plan import TimingPlan


def test_each_seed_is_used_once_and_found_again() -> None:
    seeds = Seeds(7, "w")
    made = [*seeds.take(3), *seeds.take(4)]
    assert len({*made}) == 7
    assert Seeds(7, "w").take(7) == made
    assert not {*Seeds(8, "w").take(7)} & {*made}
    assert not {*Seeds(7, "v").take(7)} & {*made}
    assert all(0 <= seed < 1 << 63 for seed in made)


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
    assert TimingPlan.of(seconds, 50, 3) == plan
