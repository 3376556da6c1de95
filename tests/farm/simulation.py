"""Many places and very many tasks, through the real queue, stations and pool: only what a place
does is simulated, with deaths, stragglers, preemption, places that never start and bad tasks.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from fictl.child.lost import Lost, NotStarted
from fictl.farm import station as stations
from fictl.farm.connection import Preempted
from fictl.farm.place import Place
from fictl.farm.pool import Pool
from fictl.farm.station import Station, Stopped
from fictl.farm.task_queue import Batch, Task, TaskQueue


@dataclass
class Habits:
    """Shares of all tasks, or of all places, that go wrong, and the seconds that a task takes."""

    dies: float = 0.0
    is_preempted: float = 0.0
    straggles: float = 0.0
    seconds: float = 0.0
    bad_places: float = 0.0
    absent_places: float = 0.0
    killers: frozenset[int] = frozenset()


@dataclass
class Found:
    """The outcome of a simulation. `results` counts each key; it is the only thing that grows."""

    results: bytearray
    blamed: list[int] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    losses: int = 0
    seconds: float = 0.0

    def keys_with(self, count: int) -> int:
        return Counter(self.results)[count]


class SimulatedPlace:
    """Does tasks by chance; a bad one loses everything, its sample, too."""

    def __init__(
        self,
        place: Place,
        habits: Habits,
        chance: random.Random,
        keep: Callable[[int, bool], None],
        found: Found,
    ) -> None:
        self._place, self._habits, self._chance = place, habits, chance
        self._keep, self._found = keep, found
        self._is_bad = chance.random() < habits.bad_places
        self._is_absent = not self._is_bad and chance.random() < habits.absent_places
        self._stopped = False

    def prepare(self, waits: Callable[[], object]) -> None:
        pass

    def do(self, task: Task[int]) -> None:
        habits, chance = self._habits, self._chance
        if self._stopped:
            raise Stopped("the run was stopped")
        if self._is_absent:
            raise NotStarted("its process did not start")
        if habits.seconds:
            slow = 50 if chance.random() < habits.straggles else 1
            time.sleep(habits.seconds * slow * chance.random() * 2)
        if chance.random() < habits.is_preempted:
            raise Preempted("its process was asked to end")
        if self._is_bad or task.work in habits.killers or chance.random() < habits.dies:
            self._found.losses += 1
            raise Lost("its process ended with SIGKILL")
        self._keep(task.work, False)

    def blame(self, task: Task[int], lost: Lost) -> None:
        self._keep(task.work, True)

    def why_unsound(self, task: Task[int]) -> str:
        return "SIGKILL" if self._is_bad else ""

    def stop(self) -> None:
        self._stopped = True

    def close(self) -> None:
        pass


def simulate(
    places: int,
    tasks: int,
    habits: Habits,
    seed: int = 0,
    batches: int = 20,
    tick: Callable[[Found], object] = lambda found: None,
) -> Found:
    """Run tasks 0, 1, … in batches of equal size, the last one shorter."""
    found = Found(bytearray(tasks))
    sites = [Place(f"p{number}", hardware="NVIDIA_H200") for number in range(places)]
    queue: TaskQueue[int] = TaskQueue({"": tasks}, {site.name: site for site in sites})
    pool = Pool(queue, lambda: tick(found))
    size = -(-tasks // batches)
    for start in range(0, tasks, size):
        works = range(start, min(start + size, tasks))
        queue.add(Batch(iter(works), len(works)))

    def write(work: int, is_blamed: bool) -> None:
        found.results[work] += 1
        if is_blamed:
            found.blamed.append(work)

    def keep(work: int, is_blamed: bool) -> None:
        pool.post(partial(write, work, is_blamed))

    def one(number: int, site: Place) -> Station[int]:
        doer = SimulatedPlace(site, habits, random.Random(seed * places + number), keep, found)
        return Station(site, doer, queue, lambda place, why: found.left.append(place.name))

    began = time.monotonic()
    pool.run([one(number, site) for number, site in enumerate(sites)])
    found.seconds = time.monotonic() - began
    return found


def without_pauses() -> Iterator[None]:
    """Make a place that did not start try again at once."""
    before, stations._PAUSE_SECONDS = stations._PAUSE_SECONDS, 0.01
    yield
    stations._PAUSE_SECONDS = before
