"""What a claim may be, and which seeds turns get."""

from __future__ import annotations

import pytest

from fictl.judge.pace import Pace
from fictl.judge.seeds import Seeds
from fictl.judge.trial import is_possible


@pytest.mark.parametrize(
    ("claim", "bound", "count", "possible"),
    [
        (1e-3, 1.1e-3, 50, True),
        (1e-3, 1.9e-3, 50, True),  # a busy machine
        (1e-4, 1e-3, 50, False),
        (1e-9, 1e-2, 3, False),
        (5e-6, 6e-5, 50, True),  # what stands between calls takes longer than these do
        (2e-3, 1e-3, 50, True),  # too slow is no lie
    ],
)
def test_a_claim_far_below_the_judges_clock_is_impossible(
    claim: float, bound: float, count: int, possible: bool
) -> None:
    assert is_possible(claim, bound, count) is possible


def test_each_seed_is_used_once_and_found_again() -> None:
    seeds = Seeds(7, "w")
    made = [*seeds.take(3), *seeds.take(4)]
    assert len({*made}) == 7
    assert Seeds(7, "w").take(7) == made
    assert not {*Seeds(8, "w").take(7)} & {*made}
    assert not {*Seeds(7, "v").take(7)} & {*made}
    assert all(0 <= seed < 1 << 63 for seed in made)


@pytest.mark.parametrize(
    ("seconds", "pace"),
    [
        (0.0, Pace(3, 50, 3)),
        (1e-5, Pace(3, 50, 3)),
        (0.05, Pace(3, 40, 3)),
        (0.5, Pace(0, 4, 3)),
        (20.0, Pace(0, 1, 1)),
    ],
)
def test_what_is_slow_is_timed_less_often(seconds: float, pace: Pace) -> None:
    assert Pace.of(seconds, 50, 3) == pace
