"""The run of many commands at many places."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from fictl.child.lost import NotStarted
from fictl.errors import SetupError
from fictl.farm.facts import kernels_digest
from fictl.farm.line import Greeting
from fictl.farm.opening import OpenPlace, close_all, open_all
from fictl.farm.place import Place
from fictl.farm.pool import Pool
from fictl.farm.run_status import RunStatus
from fictl.farm.spread.command_doer import CommandDoer, Project
from fictl.farm.spread.command_job import CommandJob, CommandResult, SpreadResults
from fictl.farm.spread.observer import SpreadObserver
from fictl.farm.spread.toolchains import CompilerChoice
from fictl.farm.station import Station
from fictl.farm.task_queue import Batch, TaskQueue


def spread(
    jobs: Sequence[CommandJob],
    places: Sequence[Place],
    project: Project,
    device: str = "",
    what: str = "commands",
    observer: SpreadObserver | None = None,
    compilers: CompilerChoice | None = None,
) -> SpreadResults:
    """Run every job at one place that can. Raises SetupError if no place can be used.

    device: what the places need; empty where a compiler is enough.
    """
    greeting = Greeting(device, compiles=compilers.device if compilers else "")
    run = _Spread(jobs, project, greeting, what, observer or SpreadObserver(), compilers)
    return run.at(places)


class _Spread:
    def __init__(
        self,
        jobs: Sequence[CommandJob],
        project: Project,
        greeting: Greeting,
        what: str,
        observer: SpreadObserver,
        compilers: CompilerChoice | None = None,
    ) -> None:
        self._jobs, self._project, self._greeting = jobs, project, greeting
        self._observer, self._what, self._compilers = observer, what, compilers
        self._results: dict[int, CommandResult] = {}
        self._left_out: list[str] = []

    def at(self, places: Sequence[Place]) -> SpreadResults:
        start = time.monotonic()
        opened = self._opened(places)
        self._numbers = {id(job): number for number, job in enumerate(self._jobs)}
        self._status = RunStatus(self._what, len(self._jobs))
        usable = [one.place for one in opened]
        left = Counter(job.kind for job in self._jobs)
        self._tasks: TaskQueue[CommandJob] = TaskQueue(left, {p.name: p for p in usable})
        for job in sorted(self._jobs, key=lambda job: -job.seconds):
            self._tasks.add(Batch(iter([job]), 1, job.kind))
        self._pool = Pool(self._tasks, self._tick)
        self._stations = [self._station(one) for one in opened]
        with self._status:
            self._pool.run(self._stations)
        done = [self._results.get(number) for number in range(len(self._jobs))]
        return SpreadResults(
            tuple(result for result in done if result is not None),
            tuple(self._left_out),
            tuple(job for job, result in zip(self._jobs, done, strict=True) if result is None),
            time.monotonic() - start,
        )

    def _opened(self, places: Sequence[Place]) -> list[OpenPlace]:
        """Start all places; leave out those that cannot, or that have other shipped ops."""
        here = kernels_digest()
        opened = [
            _with_same_kernels(one, here)
            for one in open_all(places, lambda place: self._greeting, self._observer.note)
        ]
        if self._compilers is not None:
            opened, self._jobs = self._compilers.matched(opened, self._jobs)
        for one in opened:
            if one.problem is not None:
                self._leave_out(f"place {one.place.name} left out: {one.why}")
        usable = [one for one in opened if one.problem is None]
        close_all([one for one in opened if one.problem is not None])
        if not usable:
            raise SetupError(f"no place can be used: {'; '.join(self._left_out[:3])}")
        return usable

    def _station(self, one: OpenPlace) -> Station[CommandJob]:
        note = self._observer.note
        doer = CommandDoer(
            one.place, self._greeting, self._project, self._keep, one.connection, note
        )
        return Station(one.place, doer, self._tasks, self._left)

    def _keep(self, result: CommandResult) -> None:
        self._pool.post(partial(self._write, result))

    def _write(self, result: CommandResult) -> None:
        self._results[self._numbers[id(result.job)]] = result
        self._observer.done(result, len(self._results), len(self._jobs))

    def _left(self, place: Place, why: str) -> None:
        self._pool.post(partial(self._leave_out, f"place {place.name} left out: {why}"))

    def _leave_out(self, why: str) -> None:
        self._left_out.append(why)
        self._observer.note(why)

    def _tick(self) -> None:
        busy = sum(station.is_busy for station in self._stations)
        left = len(self._tasks.place_names)
        self._observer.places(busy, left, len(self._stations))
        self._status.update(len(self._results), busy, left, len(self._stations))


def _with_same_kernels(one: OpenPlace, here: str) -> OpenPlace:
    """Refuse a place whose shipped ops were edited, or those here were: results would mix."""
    if one.ready is None or one.ready.kernels == here:
        return one
    problem = NotStarted(
        "its shipped ops differ from those here, though version and commit are the same",
        "one of the two is an edited checkout: install the same files at both",
    )
    return replace(one, problem=problem)
