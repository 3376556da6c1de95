"""The time of a call, of what both sides say of its turns."""

from __future__ import annotations

import pytest

from fictl.judge.call_time import (
    LAUNCHES,
    TimedTurn,
    gpu_call_time,
    gpu_call_times,
    host_call_time,
)

US = 1e-6


def turns(*spans: float, claim: float = 0.0, waited: float = 0.0) -> list[TimedTurn]:
    return [TimedTurn(span * US, waited * US, claim * US, claim * US) for span in spans]


def test_an_honest_claim_is_the_time() -> None:
    found = host_call_time(turns(1090, 1100, 1110, claim=1000), 100 * US)
    assert found.seconds == pytest.approx(1000 * US)
    assert found.wall == pytest.approx(995 * US)


@pytest.mark.parametrize("claim", [0.0, 1e-3, 1.0])
def test_a_forged_claim_does_not_count(claim: float) -> None:
    found = host_call_time(turns(10_100, 10_200, claim=claim), 100 * US)
    assert found.seconds == pytest.approx(10_000 * US)


def test_a_claim_that_is_too_large_counts() -> None:
    assert host_call_time(turns(100, claim=500), 100 * US).seconds == pytest.approx(500 * US)


def test_a_busy_machine_makes_it_larger_and_accuses_nobody() -> None:
    calm, busy = turns(1100, claim=1000), turns(9000, 9000, claim=1000, waited=8000)
    found = host_call_time(calm + busy, 100 * US)
    assert not found.is_calm
    assert found.seconds > 1000 * US
    assert 0.5 < found.waiting <= 1


def test_disturbed_turns_are_left_out_where_there_are_others() -> None:
    found = host_call_time(
        turns(1100, 1101, 1102, claim=1000) + turns(500, claim=1, waited=400), 100 * US
    )
    assert found.is_calm
    assert found.seconds == pytest.approx(1000 * US, rel=1e-2)


def test_a_number_is_never_nothing() -> None:
    assert host_call_time(turns(100, claim=0), 100 * US).seconds > 0


def test_on_a_gpu_claims_count_where_launches_hide_the_work() -> None:
    clocked = turns(900, 910, 920)
    assert gpu_call_time(turns(2000, claim=5), clocked, 800 * US).seconds == pytest.approx(5 * US)


def test_on_a_gpu_work_that_takes_longer_than_launches_is_not_hidden() -> None:
    clocked = turns(5800, 5900)
    found = gpu_call_time(turns(9000, claim=1), clocked, 800 * US)
    assert found.seconds == pytest.approx(5000 * US - LAUNCHES)


def test_the_trials_of_a_gpu_are_successive_parts_of_its_turns() -> None:
    exact = turns(*[2000] * 4, claim=9) + turns(*[2000] * 4, claim=5)
    clocked = turns(*[900] * 4)
    found = gpu_call_times(exact, clocked, 800 * US, 2)
    assert [time.seconds for time in found] == pytest.approx([9 * US, 5 * US])


@pytest.mark.parametrize(
    ("exact", "clocked", "trials"), [(1, 1, 1), (2, 5, 2), (7, 1, 1), (0, 4, 3)]
)
def test_each_trial_has_turns_of_both_kinds(exact: int, clocked: int, trials: int) -> None:
    found = gpu_call_times(turns(*[2000] * exact, claim=5), turns(*[900] * clocked), 0.0, 3)
    assert len(found) == trials


def test_a_slow_reference_is_timed_by_the_clock_alone() -> None:
    [found] = gpu_call_times([], turns(80_000, 80_100, claim=3), 800 * US, 1)
    assert found.seconds == pytest.approx(79_200 * US - LAUNCHES, rel=1e-3)


def test_forged_claims_in_one_part_do_not_lower_the_bound_of_another() -> None:
    exact = turns(*[9000] * 4, claim=1) + turns(*[9000] * 4, claim=0)
    found = gpu_call_times(exact, turns(*[5800] * 4), 800 * US, 2)
    assert min(time.seconds for time in found) == pytest.approx(5000 * US - LAUNCHES)
