"""One solution on one workload: batches of turns, looked at afterwards, timed by the referee."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fictl.judge.call_time import CallTime, TimedTurn, gpu_call_time, number
from fictl.judge.config import EvalConfig
from fictl.judge.judge_outcome import Decided, Outcome
from fictl.judge.modes import CLOCKED, TIMED, WARM
from fictl.judge.reference import Opened, Reference
from fictl.judge.seeds import Seeds
from fictl.judge.solution_process import SolutionProcess
from fictl.judge.timing_plan import TimingPlan
from fictl.trace import EvaluationStatus, Workload

_FIRST = 2
# So many times more, where other work on the machine disturbed a trial.
_MORE = 4


@dataclass
class SolutionTrial:
    """`evaluate` fills `outcome`; `style` is how the solution gives its results."""

    process: SolutionProcess
    reference: Reference
    workload: Workload
    config: EvalConfig
    opened: Opened
    style: str
    outcome: Outcome
    is_first: bool = False
    _checked: int = 0
    _seeds: Seeds = field(init=False)

    def __post_init__(self) -> None:
        self._seeds = Seeds(self.config.seed, self.workload.uuid)

    def evaluate(self) -> None:
        config, process = self.config, self.process
        # The first call may compile.
        more = config.compile_timeout_seconds if self.is_first else 0.0
        process.extend(config.timeout_seconds + more)
        each = math.ceil(self.opened.rounds / (config.num_trials + 1))
        seconds = self._warm_up(each)
        process.extend(config.timeout_seconds)
        plan = TimingPlan.of(seconds, config.iterations, config.num_trials)
        self.outcome.facts |= {"iterations": plan.count, "trials": plan.trials}
        numbers = self._numbers(plan, each)
        while (left := self.opened.rounds - self._checked) > 0:
            self._batch(WARM, left, left)
        process.survey()
        self._finish()
        self.outcome.seconds = self._told(numbers)
        baseline = self._baseline() if config.profile_baseline else None
        self._doubt(numbers, baseline)
        if baseline is not None:
            self.outcome.reference_seconds = baseline.seconds
            if self.reference.clocks:
                self.outcome.facts["clocks"] = self.reference.clocks

    def _warm_up(self, picks: int) -> float:
        """Seconds of the fastest turn. The first ones tell how many more there is time for."""
        wanted = max(1, self.config.warmup_runs)
        first = min(_FIRST, wanted)
        fastest = self._fastest(first, picks)
        left = TimingPlan.of(fastest, wanted - first, 1).count if wanted > first else 0
        return min(fastest, self._fastest(left, 1)) if left else fastest

    def _fastest(self, count: int, picks: int) -> float:
        return min(turn.span for turn in self.process.timed(self._batch(WARM, count, picks)))

    def _baseline(self) -> CallTime:
        with self.process.sandboxed.held():
            return self.reference.baseline.seconds(baseline_plan(self.opened, self.config))

    def _finish(self) -> None:
        said = self.reference.finish()
        self.outcome.facts |= {"checked": self._checked}
        self.outcome.correctness = said["correctness"]
        if said["status"] != EvaluationStatus.PASSED.value:
            raise Decided(said["status"], said["note"])

    def _batch(self, mode: str, count: int, picks: int, lead: int = 0) -> list[dict[str, Any]]:
        """The turns as the referee saw them; Decided where something is wrong with them."""
        seeds, process = self._seeds.take(lead + count), self.process

        def take(seconds: float) -> dict[str, Any]:
            return self.reference.turns(process, seeds, seconds, picks=picks, lead=lead)

        said = process.turns(take, self.opened.bytes, mode)
        turns: list[dict[str, Any]] = said["turns"]
        self._checked += sum(turn["checked"] for turn in turns)
        process.settle()
        if said["problem"]:
            raise Decided(*said["problem"])
        if not said["passed"]:
            self._finish()
        if mode == TIMED:
            self._name_timer(turns[-1]["claim"])
        return turns

    def _numbers(self, plan: TimingPlan, each: int) -> list[CallTime]:
        """One of each trial; those that other work on the machine disturbed are made again."""
        found: list[CallTime] = []
        most = plan.trials + _MORE
        while len(_calm(found)) < plan.trials and len(found) < most:
            with self.process.sandboxed.held():
                overhead = self.reference.baseline.overhead(self.style)
            found.append(self._number(plan, each, overhead))
        self.outcome.facts["overhead_ms"] = overhead * 1e3
        return _calm(found) or found

    def _number(self, plan: TimingPlan, each: int, overhead: float) -> CallTime:
        timed = self._checked_of(self._batch(TIMED, plan.count, each, plan.lead))
        if not self.config.device.startswith("cuda"):
            return number(timed, overhead)
        clocked = self._checked_of(self._batch(CLOCKED, plan.count, 1, plan.lead))
        return gpu_call_time(timed, clocked, overhead)

    def _checked_of(self, turns: Sequence[dict[str, Any]]) -> list[TimedTurn]:
        """A number is of calls whose outputs were compared."""
        timed = self.process.timed(turns)
        return [one for one, turn in zip(timed, turns, strict=True) if turn["checked"]]

    def _name_timer(self, claim: Any) -> None:
        timer = str(claim.get("timer", "")) if isinstance(claim, dict) else ""
        self.outcome.facts["timer"] = timer[:40]

    def _told(self, numbers: Sequence[CallTime]) -> float:
        """The time of a call, in the fastest of its trials: the others were disturbed more."""
        best = min(numbers, key=lambda one: one.seconds)
        self.outcome.facts |= {"wall_ms": best.wall * 1e3, "host_ms": best.host * 1e3}
        return best.seconds

    def _doubt(self, numbers: Sequence[CallTime], baseline: CallTime | None = None) -> None:
        """Why the numbers are not to be relied on: never held against the solution."""
        waiting = {"its calls": numbers[0]} if not numbers[0].is_calm else {}
        if baseline is not None and not baseline.is_calm:
            waiting["the reference's calls"] = baseline
        said = [
            f"{who} waited for a CPU for {n.waiting:.0%} of their time"
            for who, n in waiting.items()
        ]
        if said:
            self.outcome.facts["unclear"] = f"other work on this machine: {', '.join(said)}"


def baseline_plan(opened: Opened, config: EvalConfig) -> TimingPlan:
    return TimingPlan.of(opened.seconds, config.iterations, config.num_trials)


def _calm(numbers: Sequence[CallTime]) -> list[CallTime]:
    return [one for one in numbers if one.is_calm]
