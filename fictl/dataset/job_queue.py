"""Jobs on their way to places, and back from a place that lost one."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fictl.dataset.run_plan import EvaluationJob


class JobQueue:
    """A place takes a job, then ends it or gives it back. Threads of all places share a queue.

    `left` counts the jobs that are not ended: they wait, are built, or are at a place.
    """

    def __init__(self, left: int, places: Iterable[str]) -> None:
        self._waiting: deque[EvaluationJob] = deque()
        self._left = left
        self._expected = {*places}
        self._places = {*self._expected}  # Without those that wait for their GPU.
        self._changed = threading.Condition()
        self._is_closed = False

    @property
    def places(self) -> int:
        """Number of places that take jobs now."""
        with self._changed:
            return len(self._places)

    @property
    def is_over(self) -> bool:
        """Tell whether no place gets another job."""
        return self._is_closed or not self._left

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def step_aside(self, place: str) -> None:
        """Keep no lost job for this place while it waits for its GPU, which may take hours."""
        with self._changed:
            self._places.discard(place)
            self._changed.notify_all()

    def enter(self, place: str) -> None:
        """Count this place among those that a lost job may go to."""
        with self._changed:
            self._places.add(place)

    def add(self, job: EvaluationJob) -> None:
        with self._changed:
            self._waiting.append(job)
            self._changed.notify_all()

    def take(self, place: str) -> EvaluationJob | None:
        """Wait for a job for this place; None if all have ended, or nothing shall begin."""
        with self._changed:
            while self._left and not self._is_closed:
                position = self._first_for(place)
                if position is not None:
                    job = self._waiting[position]
                    del self._waiting[position]
                    return job
                self._changed.wait()
        return None

    def end(self) -> None:
        """Count one job as ended."""
        with self._changed:
            self._left -= 1
            self._changed.notify_all()

    def give_back(self, job: EvaluationJob) -> None:
        """Make a job the first in line, for another place than those that lost it."""
        with self._changed:
            self._waiting.appendleft(job)
            self._changed.notify_all()

    def leave(self, place: str) -> None:
        """Give this place no more jobs; with the last place the queue is closed."""
        with self._changed:
            self._places.discard(place)
            self._expected.discard(place)
            self._is_closed = self._is_closed or not self._expected
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def pause(self, seconds: float) -> None:
        """Wait, but not after the queue was closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed, seconds)

    def _first_for(self, place: str) -> int | None:
        """Find a job that this place has not lost, or that every place has lost."""
        for position, job in enumerate(self._waiting):
            lost = {*job.losses}
            if place not in lost or lost >= self._places:
                return position
        return None
