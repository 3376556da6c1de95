"""A pool: one thread for each place; the thread that runs the pool writes and reports."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from fictl.errors import FictlError
from fictl.farm.station import Station
from fictl.farm.task_queue import TaskQueue

_TICK_SECONDS = 0.2
# What places have done and nobody has written yet; more would be a queue that grows.
_MOST_POSTED = 4096
_STACK_BYTES = 1 << 20  # A thousand threads with the usual stacks are 8 GiB of address space.


class Pool:
    """Runs stations to their end. `tick` is called about every fifth of a second: it looks at every
    place, so that to call it for each result would cost more than the results, with a thousand.
    """

    def __init__(self, tasks: TaskQueue[Any], tick: Callable[[], object] = lambda: None) -> None:
        self._tasks, self._tick = tasks, tick
        self._posted: queue.Queue[Callable[[], object]] = queue.Queue(_MOST_POSTED)
        self._working = 0
        self._is_over = False
        self._next_tick = 0.0
        self._problem: BaseException | None = None

    def post(self, call: Callable[[], object]) -> None:
        """Have the thread that runs the pool call it; after the run it is for nobody."""
        while not self._is_over:
            with suppress(queue.Full):
                self._posted.put(call, timeout=_TICK_SECONDS)
                return

    def run(self, stations: Sequence[Station[Any]]) -> None:
        """Work until all tasks are ended or no place is left; raise the first problem."""
        threads = self._started(stations)
        try:
            while self._working:
                self._take(_TICK_SECONDS)
                self._tick_now_and_then()
            while not self._posted.empty():
                self._take(0)
        finally:
            # Also after Ctrl-C, and if a result cannot be written.
            self._tasks.close()
            for station in stations:
                station.doer.stop()
            self._join(threads)
            self._is_over = True
        problem = self._problem or self._setup_problem(stations)
        if problem is not None:
            raise problem

    def _started(self, stations: Sequence[Station[Any]]) -> list[threading.Thread]:
        self._working = len(stations)
        before = threading.stack_size(_STACK_BYTES)
        try:
            threads = [
                threading.Thread(
                    target=self._work,
                    args=(station,),
                    name=f"place {station.place.name}",
                    daemon=True,
                )
                for station in stations
            ]
            for thread in threads:
                thread.start()
        finally:
            threading.stack_size(before)
        return threads

    def _take(self, seconds: float) -> None:
        with suppress(queue.Empty):
            self._posted.get(timeout=seconds or None, block=bool(seconds))()

    def _tick_now_and_then(self) -> None:
        now = time.monotonic()
        if now >= self._next_tick:
            self._next_tick = now + _TICK_SECONDS
            self._tick()

    def _work(self, station: Station[Any]) -> None:
        try:
            station.work()
        except BaseException as error:
            self._problem = self._problem or error
            self._tasks.close()
        finally:
            station.doer.close()
            self.post(self._ended)

    def _ended(self) -> None:
        self._working -= 1

    def _join(self, threads: Sequence[threading.Thread]) -> None:
        """Wait for the threads; what they still post after a problem is for nobody."""
        for thread in threads:
            while thread.is_alive():
                with suppress(queue.Empty):
                    while True:
                        self._posted.get_nowait()
                thread.join(_TICK_SECONDS)

    def _setup_problem(self, stations: Sequence[Station[Any]]) -> FictlError | None:
        """Return why the last places could do no work, if none is left and work is."""
        if self._tasks.place_names or not self._tasks.left:
            return None
        problems = [station.problem for station in stations]
        return problems[-1] if all(problems) else None
