"""Tasks on their way to places, and back from a place that lost one."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from fictl.farm.loss_rate import LossRate
from fictl.farm.place import Place

W = TypeVar("W")
# A place joins others at a batch only while it has as many tasks: joining costs it a start.
_WORTH_JOINING = 2


class Batch(Generic[W]):
    """Tasks that a place does best one after another, as the workloads of one solution.

    works: read only when a place is free, as there may be more than fit into memory.
    count: their number. kind: the hardware that they need, empty for any.
    """

    def __init__(self, works: Iterator[W], count: int, kind: str = "") -> None:
        self._works = works
        self.left = count
        self.kind = kind
        self.first_place = ""

    def next(self) -> W | None:
        """Return the next one; None at the end, which may come early."""
        if self.left <= 0:
            return None
        self.left -= 1
        work = next(self._works, None)
        if work is None or not self.left:
            self.end()
        return work

    def end(self) -> None:
        """Have no more, and close the file that they are read from."""
        self.left = 0
        self._works = iter(())


@dataclass(frozen=True)
class Task(Generic[W]):
    """One piece of work. `losses` are the places that lost it.

    waits_for: the build that it was put off for; a place that takes it again waits for that.
    """

    batch: Batch[W]
    work: W
    losses: tuple[str, ...] = ()
    waits_for: str = ""

    def lost_at(self, place: str) -> Task[W]:
        return replace(self, losses=(*self.losses, place))


class TaskQueue(Generic[W]):
    """A place takes a task, then ends it or gives it back. Threads of all places share a queue.

    left: the number of tasks for each kind of hardware that are not ended: they wait, are still
    to be added, or are at a place.
    """

    def __init__(self, left: Mapping[str, int], places: Mapping[str, Place]) -> None:
        self._left = Counter(left)
        self._places = {**places}
        self._aside: set[str] = set()
        self._waiting: deque[Batch[W]] = deque()
        self._begun: list[Batch[W]] = []
        self._current: dict[str, Batch[W]] = {}
        self._returned: list[Task[W]] = []
        self._put_off: list[Task[W]] = []
        self._built: set[tuple[str, str]] = set()
        self._changed = threading.Condition()
        self._is_closed = False
        self.loss_rate = LossRate(self.left)

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    @property
    def is_over(self) -> bool:
        """Tell whether no place gets another task."""
        return self._is_closed or not self.left

    @property
    def left(self) -> int:
        return sum(self._left.values())

    @property
    def place_names(self) -> tuple[str, ...]:
        """Names of the places that still take tasks."""
        with self._changed:
            return (*self._places,)

    def places_for(self, kind: str) -> int:
        """Count the places that take tasks of this kind now."""
        with self._changed:
            return len(self._fitting(kind))

    def step_aside(self, place: str) -> None:
        """Keep no lost task for this place while it waits for its GPU, which may take hours."""
        with self._changed:
            self._aside.add(place)
            self._changed.notify_all()

    def enter(self, place: str) -> None:
        """Count this place among those that a lost task may go to."""
        with self._changed:
            self._aside.discard(place)

    def add(self, batch: Batch[W]) -> None:
        with self._changed:
            self._waiting.append(batch)
            self._changed.notify_all()

    def take(self, place: str) -> Task[W] | None:
        """Wait for a task for this place; None if all have ended, or nothing shall begin."""
        with self._changed:
            while not self._is_closed and place in self._places and self._has_work_for(place):
                task = self._next(place)
                if task is not None:
                    return task
                self._changed.wait()
        return None

    def end(self, kind: str, count: int = 1) -> None:
        """Count tasks of a kind as ended."""
        with self._changed:
            self._ended(kind, count)

    def give_back(self, task: Task[W]) -> None:
        """Make a task the first in line, for another place than those that lost it."""
        with self._changed:
            self._returned.insert(0, task)
            self._changed.notify_all()

    def put_off(self, task: Task[W], place: str, waits_for: str, built: Iterable[str] = ()) -> None:
        """Let this place do other work while something is built for the task.

        built: what has been built there since it put a task off last.
        """
        with self._changed:
            machine = self._machine(place)
            self._built.update((machine, key) for key in built)
            self._built.discard((machine, waits_for))
            self._put_off.append(replace(task, waits_for=waits_for))
            if self._current.get(place) is task.batch:
                del self._current[place]
            if task.batch in self._begun and task.batch not in self._current.values():
                self._begun.remove(task.batch)
            self._changed.notify_all()

    def drop(self, batch: Batch[W]) -> int:
        """End the tasks of a batch that no place has; return how many they are."""
        with self._changed:
            tasks = (*self._returned, *self._put_off)
            returned = [task for task in tasks if task.batch is batch]
            self._returned = [task for task in self._returned if task.batch is not batch]
            self._put_off = [task for task in self._put_off if task.batch is not batch]
            count = batch.left + len(returned)
            batch.end()
            self._ended(batch.kind, count)
        return count

    def leave(self, place: str) -> None:
        """Give this place no more tasks; with the last place the queue is closed."""
        with self._changed:
            self._places.pop(place, None)
            self._leave_batch(place)
            self._is_closed = self._is_closed or not self._places
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def pause(self, seconds: float) -> None:
        """Wait, but not after the queue was closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed, seconds)

    def _ended(self, kind: str, count: int) -> None:
        self._left[kind] -= count
        if not self._left[kind]:  # Else nobody's wait ends: a thousand places may wait.
            self._changed.notify_all()

    def _leave_batch(self, place: str) -> None:
        """Let another place begin what only this one was at."""
        batch = self._current.pop(place, None)
        if batch is not None and batch in self._begun and batch not in self._current.values():
            self._begun.remove(batch)
            self._waiting.appendleft(batch)

    def _has_work_for(self, place: str) -> bool:
        return any(self._fits(place, kind) for kind, left in self._left.items() if left > 0)

    def _fits(self, place: str, kind: str) -> bool:
        return not kind or self._places[place].is_a(kind)

    def _fitting(self, kind: str) -> set[str]:
        here = self._places.keys() - self._aside
        return {place for place in here if self._fits(place, kind)}

    def _next(self, place: str) -> Task[W] | None:
        task = self._returned_for(place) or self._of_current(place)
        task = task or self._resumed(place, is_built=True)
        while task is None:
            batch = self._waiting_for(place) or self._worth_joining(place)
            if batch is None:
                return self._resumed(place)
            self._current[place] = batch
            task = self._of_current(place)
        return task

    def _returned_for(self, place: str) -> Task[W] | None:
        """Find a task that this place has not lost, or that every place has lost."""
        for position, task in enumerate(self._returned):
            kind, lost = task.batch.kind, {*task.losses}
            if self._fits(place, kind) and (place not in lost or lost >= self._fitting(kind)):
                return self._returned.pop(position)
        return None

    def _resumed(self, place: str, is_built: bool = False) -> Task[W] | None:
        """Find a task that was put off; if `is_built`, one whose build has ended."""
        machine = self._machine(place)
        for position, task in enumerate(self._put_off):
            is_ready = not is_built or (machine, task.waits_for) in self._built
            if is_ready and self._fits(place, task.batch.kind):
                if task.batch.left and task.batch not in self._begun:
                    self._begun.append(task.batch)
                    self._current[place] = task.batch
                return self._put_off.pop(position)
        return None

    def _machine(self, place: str) -> str:
        """Return what names the machine where a place builds."""
        known = self._places.get(place)
        return "" if known is None or known.is_here else place

    def _of_current(self, place: str) -> Task[W] | None:
        batch = self._current.get(place)
        if batch is None:
            return None
        expected = batch.left
        work = batch.next()
        if work is not None:
            return Task(batch, work)
        del self._current[place]
        if batch in self._begun:
            self._begun.remove(batch)
        if expected:  # There were fewer than were counted, as in a file that was changed.
            self._ended(batch.kind, expected)
        return None

    def _waiting_for(self, place: str) -> Batch[W] | None:
        for position, batch in enumerate(self._waiting):
            if self._fits(place, batch.kind):
                del self._waiting[position]
                batch.first_place = batch.first_place or place
                self._begun.append(batch)
                return batch
        return None

    def _worth_joining(self, place: str) -> Batch[W] | None:
        """Find the longest batch of other places: help there is better than to wait."""
        fitting = [batch for batch in self._begun if self._fits(place, batch.kind)]
        longest = max(fitting, key=lambda batch: batch.left, default=None)
        return longest if longest is not None and longest.left >= _WORTH_JOINING else None
