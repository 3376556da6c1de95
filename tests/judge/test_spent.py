from __future__ import annotations

import time

import pytest

from fictl.judge.spent import CHECKS, INPUTS, Spent, seconds_of_turn


def test_parts_add_up_and_a_part_within_another_counts_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter(range(100))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    spent = Spent()
    with spent.on("timing"), spent.on("overhead"):
        pass
    with spent.on("timing"):
        pass
    assert spent.seconds() == {"rest": 3.0, "timing": 3.0, "overhead": 1.0}


def test_a_part_that_fails_is_counted() -> None:
    spent = Spent()
    with pytest.raises(ValueError, match="why"), spent.on("build"):
        raise ValueError("why")
    assert set(spent.seconds()) == {"rest", "build"}


def test_a_part_can_be_asked_for_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    spent = Spent()
    assert spent.of(CHECKS) == 0
    for _ in range(2):
        with spent.on(CHECKS):
            pass
    assert spent.of(CHECKS) == 2


def test_the_time_of_a_turn_is_without_its_check() -> None:
    parts = {INPUTS: 1.0, "calls": 2.0, CHECKS: 7.0, "rest": 1.0}
    assert seconds_of_turn({"parts": parts, "turns": [{}, {}]}) == 2.0
    assert seconds_of_turn({"parts": {}, "turns": []}) == 0.0
