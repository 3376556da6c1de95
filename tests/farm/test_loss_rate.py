"""How many losses of a task are evidence against it."""

from __future__ import annotations

from fictl.farm.loss_rate import FEWEST, MOST, LossRate


def fewest(rate: LossRate, lost: bool = True) -> int:
    """The first number of losses that is evidence against one task that is lost again and again."""
    for losses in range(1, MOST + 1):
        if lost:
            rate.lost()
        if rate.is_evidence(losses):
            return losses
    raise AssertionError("no number of losses is evidence")


def test_three_losses_are_evidence_where_nothing_else_is_lost() -> None:
    rate = LossRate(1000)
    for _ in range(1000):
        rate.ended_well()
    assert fewest(rate) == FEWEST


def test_at_the_start_of_a_long_run_more_are_needed() -> None:
    assert fewest(LossRate(5)) == FEWEST
    assert FEWEST < fewest(LossRate(500)) < fewest(LossRate(1_000_000)) <= MOST


def test_where_a_tenth_is_lost_by_chance_more_are_needed() -> None:
    rate = LossRate(500)
    for number in range(100):
        rate.lost() if number % 10 == 0 else rate.ended_well()
    assert fewest(rate) == 6  # 500 tasks, each lost six times in a row: one in two thousand runs.


def test_what_was_blamed_says_nothing_about_other_tasks() -> None:
    rate = LossRate(500)
    for _ in range(500):
        rate.ended_well()
    for _ in range(100):
        rate.blamed(fewest(rate))
    assert fewest(rate) == FEWEST


def test_where_everything_is_lost_there_is_an_end() -> None:
    rate = LossRate(1_000_000)
    for _ in range(100):
        rate.lost()
    assert fewest(rate) == MOST
