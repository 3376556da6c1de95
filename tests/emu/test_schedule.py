"""Orders of threads, written and read."""

from __future__ import annotations

import pytest

from fictl.emu.schedule import Schedule, all_schedules


@pytest.mark.parametrize(
    ("text", "schedule", "code"),
    [
        ("forward", Schedule("forward"), 0),
        ("reverse", Schedule("reverse", early=True), 1),
        ("random-7", Schedule("random", 7, early=True), 2),
        ("random-8", Schedule("random", 8), 2),
    ],
)
def test_what_is_written_is_read(text: str, schedule: Schedule, code: int) -> None:
    assert Schedule.parse(text) == schedule
    assert str(schedule) == text
    assert schedule.code == code


def test_a_random_schedule_draws_a_seed_that_repeats_it() -> None:
    drawn = Schedule.parse("random")
    assert drawn.seed > 0
    assert Schedule.parse(str(drawn)) == drawn


def test_together_they_run_both_directions_and_land_copies_early_and_late() -> None:
    schedules = all_schedules()
    assert [schedule.order for schedule in schedules] == ["forward", "reverse", "random"]
    assert {schedule.early for schedule in schedules[:2]} == {True, False}
