"""What a turn takes without a solution, and with the reference: in a process that no solution is in."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fictl.judge.call_time import CallTime, TimedTurn, gpu_call_time, number
from fictl.judge.inside.roles import SOLUTION
from fictl.judge.judge_outcome import Decided, InvalidReference
from fictl.judge.modes import CLOCKED, RETURNS, TIMED
from fictl.judge.process.spawn import start
from fictl.judge.solution_process import SolutionProcess
from fictl.judge.timing_plan import TimingPlan

if TYPE_CHECKING:
    from fictl.judge.reference import Reference

_FOLDER = "baseline"
_IDLE_TURNS, _IDLE_SECONDS = 8, 60.0
_SEED_BITS = 62


class Baseline:
    """Of the workload that its reference has open, in the same turns as solutions have."""

    def __init__(self, reference: Reference) -> None:
        self._reference = reference
        folder = reference.folder / _FOLDER
        folder.mkdir(exist_ok=True)
        sandboxed = start(SOLUTION, folder, device=reference.device, gpu=reference.gpu)
        self.process = SolutionProcess(sandboxed, folder, is_trusted=True)
        self._overheads: dict[tuple[str, str], float] = {}
        self._numbers: dict[str, CallTime] = {}
        with self._its_own_fault():
            self.process.build(reference.definition, None, reference.device)
        reference.meet(self.process)

    def overhead(self, style: str) -> float:
        """The least that was seen: of this workload, in all the times that it was asked for."""
        turns = self._turns(_IDLE_TURNS, CLOCKED, idle=style)
        known = self._overheads.get((self._key(), style), turns[0].span)
        self._overheads[self._key(), style] = min(known, *(turn.span for turn in turns))
        return self._overheads[self._key(), style]

    def knows(self, style: str) -> bool:
        """Whether that was measured, perhaps when no solution was there to disturb it."""
        return (self._key(), style) in self._overheads

    def seconds(self, plan: TimingPlan) -> CallTime:
        """Of one call of the reference, timed as solutions are: its fastest trial.

        It is measured once for each workload, or again where other work disturbed it.
        """
        known = self._numbers.get(self._key())
        if known is None or not known.is_calm:
            trials = [self._number(plan) for _ in range(plan.trials)]
            known = min(trials, key=lambda one: (not one.is_calm, one.seconds))
            self._numbers[self._key()] = known
        return known

    def close(self) -> None:
        self.process.close()

    def _number(self, plan: TimingPlan) -> CallTime:
        overhead = self.overhead(RETURNS)
        timed = self._turns(plan.lead + plan.count, TIMED)[plan.lead :]
        if self._reference.device != "cuda":
            return number(timed, overhead)
        clocked = self._turns(plan.lead + plan.count, CLOCKED)[plan.lead :]
        return gpu_call_time(timed, clocked, overhead)

    def _turns(self, count: int, mode: str, idle: str = "") -> list[TimedTurn]:
        process, reference = self.process, self._reference
        process.extend(_IDLE_SECONDS + 2 * count * reference.opened.seconds)
        seeds = [secrets.randbits(_SEED_BITS) for _ in range(count)]

        def take(seconds: float) -> dict[str, Any]:
            return reference.turns(process, seeds, seconds, picks=0, idle=idle, is_judged=False)

        with self._its_own_fault():
            said = process.turns(take, reference.opened.bytes, mode)
            reference.clocks = said["clocks"]
            return process.timed(said["turns"])

    @contextmanager
    def _its_own_fault(self) -> Iterator[None]:
        """What goes wrong here is held against no solution."""
        try:
            yield
        except Decided as decided:
            name = self._reference.definition.name
            raise InvalidReference(f"the reference of {name}: {decided.message}") from None

    def _key(self) -> str:
        return self._reference.workload.model_dump_json()
