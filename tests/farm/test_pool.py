"""The scheduler: no task is lost, done twice or blamed for its place, whatever places do."""

from __future__ import annotations

import threading
import tracemalloc
from collections.abc import Iterator

import pytest

from fictl.farm.pool import _MOST_POSTED, Pool
from fictl.farm.task_queue import TaskQueue

from .simulation import Habits, simulate, without_pauses


@pytest.fixture(autouse=True)
def _no_pauses() -> Iterator[None]:
    yield from without_pauses()


def test_500_tasks_at_8_places_with_kills() -> None:
    found = simulate(8, 500, Habits(dies=0.1))
    assert found.losses > 20
    assert (found.keys_with(1), found.blamed, found.left) == (500, [], [])


@pytest.mark.parametrize("seed", range(3))
def test_deaths_preemption_stragglers_and_bad_places(seed: int) -> None:
    habits = Habits(
        dies=0.05,
        is_preempted=0.02,
        straggles=0.01,
        seconds=0.0002,
        bad_places=0.1,
        absent_places=0.1,
    )
    found = simulate(60, 6000, habits, seed)
    assert found.keys_with(1) == 6000
    assert found.blamed == []
    assert found.left


def test_what_kills_every_place_is_blamed_and_no_place_is() -> None:
    killers = frozenset({7, 1100})
    found = simulate(20, 2000, Habits(killers=killers))
    assert found.keys_with(1) == 2000
    assert (sorted(found.blamed), found.left) == (sorted(killers), [])


def test_where_all_places_are_bad_nothing_is_blamed() -> None:
    found = simulate(5, 100, Habits(bad_places=1.0))
    assert (found.keys_with(0), found.blamed, len(found.left)) == (100, [], 5)


def test_no_thread_stays() -> None:
    before = threading.active_count()
    simulate(30, 300, Habits(dies=0.1))
    assert threading.active_count() == before


def test_an_error_of_who_writes_ends_the_run() -> None:
    def full(found: object) -> None:
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        simulate(4, 100_000, Habits(seconds=0.001), tick=full)
    assert not [one for one in threading.enumerate() if one.name.startswith("place p")]


def test_what_is_posted_after_the_end_blocks_nobody() -> None:
    """As by a thread that still reports what could not be built, when Ctrl-C has come."""
    pool = Pool(TaskQueue({}, {}))
    pool.run([])
    calls: list[int] = []
    late = threading.Thread(
        target=lambda: [pool.post(lambda: calls.append(1)) for _ in range(2 * _MOST_POSTED)]
    )
    late.start()
    late.join(20)
    assert not late.is_alive()
    assert calls == []


def test_places_are_looked_at_now_and_then_and_not_for_each_result() -> None:
    ticks: list[int] = []
    found = simulate(50, 20_000, Habits(), tick=lambda found: ticks.append(1))
    assert found.keys_with(1) == 20_000
    assert 0 < len(ticks) < 5 * found.seconds + 3


def test_the_memory_of_the_driver_does_not_grow_with_the_work() -> None:
    """The results of the simulation, a byte for each task, are there from the start."""
    used: list[int] = []
    habits = Habits(dies=0.02, is_preempted=0.005, seconds=0.0001, bad_places=0.02)
    tracemalloc.start()
    try:
        found = simulate(
            100,
            20_000,
            habits,
            batches=50,
            tick=lambda found: used.append(tracemalloc.get_traced_memory()[0]),
        )
    finally:
        tracemalloc.stop()
    assert (found.keys_with(1), found.blamed) == (20_000, [])
    assert len(used) > 3
    assert max(used[len(used) // 2 :]) < max(used[1 : len(used) // 2 + 1]) + (1 << 20)
