"""The baseline of a workload: the time of an empty turn and of the reference's call.

Both are measured in a process without any solution, in turns like those of solutions.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fictl.judge.baseline_times import BaselineTime, BaselineTimes, key_of
from fictl.judge.call_time import CallTime, TimedTurn, gpu_call_times, host_call_time
from fictl.judge.config import EvalConfig
from fictl.judge.inside.roles import SOLUTION
from fictl.judge.judge_outcome import Decided, InvalidReference
from fictl.judge.modes import CLOCKED, RETURNS, TIMED, is_watched
from fictl.judge.process.spares import Spare
from fictl.judge.process.spawn import start
from fictl.judge.reference_process import ReferenceProcess, forgets
from fictl.judge.solution_process import SolutionProcess
from fictl.judge.spent import seconds_of_turn
from fictl.judge.timing_plan import TimingPlan

_FOLDER = "baseline"
_IDLE_TURNS, _IDLE_AGAIN, _IDLE_SECONDS = 4, 2, 60.0
# On a GPU a call that takes longer is timed by the clock of the referee alone, twice, or once: what
# CUPTI adds to that are 0.2 ms for launches.
_SLOW_SECONDS, _TRIES, _LONG_SECONDS = 0.05, 2, 0.5
_SEED_BITS = 62


class Baseline:
    """Measures the workload that its reference has open; `times` has those of earlier workloads."""

    def __init__(self, reference: ReferenceProcess, times: BaselineTimes) -> None:
        self._reference, self._times = reference, times
        self._spare = reference.spares.take(SOLUTION) if reference.spares else None
        self.process = self._spared(self._spare) if self._spare else self._started()
        self._overheads: dict[tuple[str, str], float] = {}
        self._turn_seconds = 0.0  # of an empty turn
        self.build()
        reference.meet(self.process)

    def build(self) -> None:
        """Build the reference of the definition that is served now."""
        definition = self._reference.definition
        self._overheads.clear()
        self.process.extend()
        with self._failures_of_reference():
            self.process.build(definition, None, self._reference.device)
        self.definition = definition

    def forgets(self) -> bool:
        """Drop the reference; tell whether another one can be built here."""
        return not self.process.is_spent and forgets(self.process.sandboxed)

    def overhead(self, style: str) -> float:
        """Measure an empty turn; return the least seconds seen so far for this workload."""
        is_again = self.knows(style) and self._reference.device == "cuda"
        turns = self._turns(_IDLE_AGAIN if is_again else _IDLE_TURNS, CLOCKED, idle=style)
        known = self._overheads.get((self._key(), style), turns[0].span)
        self._overheads[self._key(), style] = min(known, *(turn.span for turn in turns))
        return self._overheads[self._key(), style]

    def knows(self, style: str) -> bool:
        """Tell whether the overhead was measured already, possibly before a solution was
        started.
        """
        return (self._key(), style) in self._overheads

    def call_time(self, config: EvalConfig, retry: bool = True) -> CallTime:
        """Time a call of the reference in the same way as a solution; return its fastest trial.

        It is measured once a workload, for all processes of its reference, and with `retry` again if
        other work on the machine disturbed it.
        """
        return self.known(config, retry) or self.measured(config)

    def measured(self, config: EvalConfig) -> CallTime:
        """Measure it, whatever is known."""
        reference = self._reference
        trials = self._on_gpu(config) if reference.device == "cuda" else self._on_host(config)
        best = min(trials, key=lambda time: (not time.is_calm, time.seconds))
        key = key_of(reference.definition, reference.workload, config)
        self._times.keep(key, BaselineTime(best, reference.clocks))
        return best

    def known(self, config: EvalConfig, retry: bool) -> CallTime | None:
        """Return what was measured before; None if there is nothing, or with `retry` nothing
        undisturbed.
        """
        reference = self._reference
        known = self._times.find(key_of(reference.definition, reference.workload, config))
        if known is None or (retry and not known.call.is_calm):
            return None
        reference.clocks = known.clocks
        return known.call

    def close(self) -> None:
        spares, scratch = self._reference.spares, self._spare.scratch if self._spare else None
        if spares is not None:
            spares.retire(self.process.sandboxed, scratch)
        else:
            self.process.close()

    def _spared(self, spare: Spare) -> SolutionProcess:
        return SolutionProcess(spare.sandboxed, spare.folder, is_trusted=True)

    def _started(self) -> SolutionProcess:
        reference = self._reference
        folder = reference.folder / _FOLDER
        folder.mkdir(exist_ok=True)
        sandboxed = start(SOLUTION, folder, device=reference.device, gpu=reference.gpu)
        return SolutionProcess(sandboxed, folder, is_trusted=True)

    def _on_host(self, config: EvalConfig) -> list[CallTime]:
        plan = self._plan(self._reference.opened.seconds, config)
        trials = []
        for _ in range(plan.passes):
            overhead = self.overhead(RETURNS)
            trials.append(host_call_time(self._timed(plan.lead, plan.timed, TIMED), overhead))
        return trials

    def _on_gpu(self, config: EvalConfig) -> list[CallTime]:
        """Time one batch, as that of a solution is timed."""
        overhead = self.overhead(RETURNS)
        seconds, clocked = self._tried(overhead)
        plan, exact = self._plan(seconds, config), []
        if seconds <= _SLOW_SECONDS:
            exact = self._timed(plan.lead, plan.timed, TIMED)
            clocked = self._timed(plan.lead, plan.clocked, CLOCKED, clocks=True)
        return gpu_call_times(exact, clocked, overhead, plan.trials)

    def _tried(self, overhead: float) -> tuple[float, list[TimedTurn]]:
        """Call a reference again that seemed slow: when it was, processes may have been starting, and it
        may have loaded libraries. Return its seconds, and the turns, which are enough if it is slow.
        """
        seconds, turns = self._reference.opened.seconds, list[TimedTurn]()
        while seconds > _SLOW_SECONDS and len(turns) < _TRIES:
            turns += self._timed(0, 1, CLOCKED, clocks=True)
            seconds = min(seconds, turns[-1].bound(overhead))
            if seconds > _LONG_SECONDS:
                break
        return seconds, turns

    def _plan(self, seconds: float, config: EvalConfig) -> TimingPlan:
        turn = self._turn_seconds + seconds
        return TimingPlan.of(seconds, config.iterations, config.num_trials, config.device, turn)

    def _timed(self, lead: int, count: int, mode: str, *, clocks: bool = False) -> list[TimedTurn]:
        return self._turns(lead + count, mode, clocks=clocks)[lead:]

    def _turns(
        self, count: int, mode: str, idle: str = "", *, clocks: bool = False
    ) -> list[TimedTurn]:
        process, reference = self.process, self._reference
        process.extend(_IDLE_SECONDS + 2 * count * reference.opened.seconds)
        seeds = [secrets.randbits(_SEED_BITS) for _ in range(count)]

        def take(seconds: float) -> dict[str, Any]:
            return reference.turns(
                process,
                seeds,
                seconds,
                picks=0,
                idle=idle,
                is_judged=False,
                watched=is_watched(mode, reference.device) and not idle,
                clocks=clocks,
            )

        with self._failures_of_reference():
            batch = process.turns(take, reference.opened.bytes, mode)
            if clocks:
                reference.clocks = batch["clocks"]
            if idle:
                self._turn_seconds = seconds_of_turn(batch)
            return process.timed(batch["turns"])

    @contextmanager
    def _failures_of_reference(self) -> Iterator[None]:
        """Raise failures as InvalidReference: no solution is responsible for them."""
        try:
            yield
        except Decided as decided:
            name = self._reference.definition.name
            raise InvalidReference(f"the reference of {name}: {decided.message}") from None

    def _key(self) -> str:
        return self._reference.workload.model_dump_json()
