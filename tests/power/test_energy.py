from __future__ import annotations

import math
from dataclasses import dataclass

import pytest

from fictl.power.energy import NoEnergy, energy_of


@dataclass
class Board:
    """A GPU at a constant power, whose counter moves in steps; `seconds` are of ten calls."""

    watts: float
    seconds: float
    step: float = 0.1
    now: float = 0.0

    def work(self) -> None:
        self.now += self.seconds

    def counter(self) -> float:
        return math.floor(self.now / self.step) * self.step * self.watts

    def clock(self) -> float:
        return self.now


@pytest.mark.parametrize("seconds", [0.001, 0.01, 0.037, 0.25])
def test_energy_is_power_times_the_time_of_a_call(seconds: float) -> None:
    board = Board(watts=600.0, seconds=seconds)
    energy = energy_of(board.work, 10, board.counter, board.clock)
    # One `work` at either end of a window of 1.5 s is all that can be wrong.
    assert energy.joules == pytest.approx(600 * seconds / 10, rel=max(0.02, seconds))
    assert energy.watts == pytest.approx(600, rel=max(0.02, seconds))
    assert energy.seconds == pytest.approx(seconds / 10)


def test_what_was_used_before_does_not_count() -> None:
    board = Board(watts=100.0, seconds=0.01, now=1e6)
    assert energy_of(board.work, 1, board.counter, board.clock).watts == pytest.approx(
        100, rel=0.02
    )


def test_a_counter_that_stands_still_is_an_error() -> None:
    board = Board(watts=0.0, seconds=0.5)
    with pytest.raises(NoEnergy, match="moved 0 times"):
        energy_of(board.work, 1, board.counter, board.clock)


def test_a_counter_that_begins_again_is_not_negative_energy() -> None:
    board = Board(watts=300.0, seconds=0.01)
    energy = energy_of(
        board.work,
        1,
        lambda: board.counter() if board.now < 0.3 else board.counter() - 80,
        board.clock,
    )
    assert energy.joules > 0
