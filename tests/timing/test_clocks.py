"""Which clocks count as the same."""

from __future__ import annotations

import pytest

from fictl.timing.clocks import are_alike, settled


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (1980, 1965, True),
        (1980, 1900, False),
        (1200, 1980, False),
        (0, 1980, True),
        (1980, 0, True),
    ],
)
def test_clocks_that_differ_by_more_than_a_boost(one: int, other: int, alike: bool) -> None:
    assert are_alike(one, other) is alike


def test_a_clock_near_the_highest_is_the_highest() -> None:
    assert (settled(1965, 1980), settled(1200, 1980)) == (1980, 1200)
