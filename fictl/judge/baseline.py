"""The baseline of a workload: the time of an empty turn and of the reference's call.

Both are measured in a process without any solution, in turns like those of solutions.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fictl.judge.call_time import CallTime, TimedTurn, gpu_call_time, host_call_time
from fictl.judge.config import EvalConfig
from fictl.judge.inside.roles import SOLUTION
from fictl.judge.judge_outcome import Decided, InvalidReference
from fictl.judge.modes import CLOCKED, RETURNS, TIMED, is_watched
from fictl.judge.process.spares import Spare
from fictl.judge.process.spawn import start
from fictl.judge.reference_process import ReferenceProcess
from fictl.judge.solution_process import SolutionProcess
from fictl.judge.timing_plan import TimingPlan
from fictl.removal import remove

_FOLDER = "baseline"
_IDLE_TURNS, _IDLE_SECONDS = 4, 60.0
_SEED_BITS = 62


class Baseline:
    """Measures the workload that its reference has open; stores the times of earlier workloads."""

    def __init__(self, reference: ReferenceProcess) -> None:
        self._reference = reference
        self._spare = reference.spares.take(SOLUTION) if reference.spares else None
        self.process = self._spared(self._spare) if self._spare else self._started()
        self._overheads: dict[tuple[str, str], float] = {}
        self._call_times: dict[str, CallTime] = {}
        self._turn_seconds = 0.0  # of a whole turn
        with self._failures_of_reference():
            self.process.build(reference.definition, None, reference.device)
        reference.meet(self.process)

    def overhead(self, style: str) -> float:
        """Measure an empty turn; return the least seconds seen so far for this workload."""
        turns = self._turns(_IDLE_TURNS, CLOCKED, idle=style)
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

        It is measured once a workload, and with `retry` again if other work on the machine
        disturbed it.
        """
        known = self._call_times.get(self._key())
        if known is None or (retry and not known.is_calm):
            opened = self._reference.opened
            plan = TimingPlan.of(
                opened.seconds,
                config.iterations,
                config.num_trials,
                config.device,
                self._turn_seconds,
            )
            trials = [self._trial(plan) for _ in range(plan.trials)]
            known = min(trials, key=lambda time: (not time.is_calm, time.seconds))
            self._call_times[self._key()] = known
        return known

    def close(self) -> None:
        self.process.close()
        if self._spare is not None:
            remove(self._spare.scratch)

    def _spared(self, spare: Spare) -> SolutionProcess:
        return SolutionProcess(spare.sandboxed, spare.folder, is_trusted=True)

    def _started(self) -> SolutionProcess:
        reference = self._reference
        folder = reference.folder / _FOLDER
        folder.mkdir(exist_ok=True)
        sandboxed = start(SOLUTION, folder, device=reference.device, gpu=reference.gpu)
        return SolutionProcess(sandboxed, folder, is_trusted=True)

    def _trial(self, plan: TimingPlan) -> CallTime:
        overhead = self.overhead(RETURNS)
        timed = self._turns(plan.lead + plan.count, TIMED)[plan.lead :]
        if self._reference.device != "cuda":
            return host_call_time(timed, overhead)
        clocked = self._turns(plan.lead + plan.clocked, CLOCKED)[plan.lead :]
        return gpu_call_time(timed, clocked, overhead)

    def _turns(self, count: int, mode: str, idle: str = "") -> list[TimedTurn]:
        process, reference = self.process, self._reference
        process.extend(_IDLE_SECONDS + 2 * count * reference.opened.seconds)
        seeds = [secrets.randbits(_SEED_BITS) for _ in range(count)]

        def take(seconds: float) -> dict[str, Any]:
            watched = is_watched(mode, reference.device) and not idle
            return reference.turns(
                process, seeds, seconds, picks=0, idle=idle, is_judged=False, watched=watched
            )

        start = time.monotonic()
        with self._failures_of_reference():
            batch = process.turns(take, reference.opened.bytes, mode)
            reference.clocks = batch["clocks"]
            self._turn_seconds = (time.monotonic() - start) / count
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
