"""When enough rounds were timed."""

from __future__ import annotations

from fictl.timing.stop import Stop

STEADY = [1.0, 1.001] * 10
NOISY = [1.0, 1.2] * 10


def test_it_stops_when_every_side_is_known_well_enough():
    assert Stop().reached([STEADY, STEADY], elapsed=0.1)


def test_one_noisy_side_keeps_all_going():
    assert not Stop().reached([STEADY, NOISY], elapsed=0.1)


def test_time_ends_what_noise_does_not():
    assert Stop().reached([NOISY], elapsed=2.0)


def test_a_round_is_timed_even_when_time_is_up():
    assert not Stop().reached([[]], elapsed=9.0)


def test_few_rounds_are_not_believed():
    assert not Stop(min_rounds=10).reached([[1.0] * 9], elapsed=0.1)


def test_a_short_time_is_not_believed():
    assert not Stop(min_seconds=0.05).reached([STEADY], elapsed=0.04)


def test_rounds_can_be_counted_instead():
    stop = Stop(min_rounds=20, max_rounds=20, min_seconds=0.0)
    assert not stop.reached([STEADY[:19]], elapsed=0.1)
    assert stop.reached([NOISY], elapsed=0.0)
