"""One solution on one workload: batches of turns, checked afterwards, timed by the referee."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from fictl.judge.call_time import CallTime, TimedTurn, gpu_call_times, host_call_time
from fictl.judge.config import EvalConfig
from fictl.judge.judge_outcome import Decided, InvalidReference, JudgeOutcome
from fictl.judge.modes import CLOCKED, TIMED, WARM, is_watched
from fictl.judge.reference import Opened, Reference
from fictl.judge.seeds import Seeds
from fictl.judge.solution_process import SolutionProcess
from fictl.judge.spent import BASELINE, OVERHEAD, ROUNDS, TIMING, WARM_UP, Spent, seconds_of_turn
from fictl.judge.timing_plan import TimingPlan, warm_ups
from fictl.trace import EvaluationStatus, Workload

_FIRST_WARM_UPS = 2
# Turns without a recording that are checked at least, as one alone may have been disturbed; fewer
# where the reference takes more seconds.
_CLOCKED_PICKS, _SLOW_REFERENCE = 2, 1.0
# Maximum number of trials repeated because other work on the machine disturbed them.
_MOST_REPEATED_TRIALS = 4


@dataclass(kw_only=True)
class SolutionTrial:
    """Checks and times a solution whose process is built and connected to the reference.

    `style` is how the solution delivers its outputs: written to given tensors, or returned.
    Nothing disturbs what is timed in a block of `quiet`.
    """

    process: SolutionProcess
    reference: Reference
    workload: Workload
    config: EvalConfig
    opened: Opened
    style: str
    is_first: bool = False
    spent: Spent = field(default_factory=Spent)
    quiet: Callable[[], AbstractContextManager[object]] = nullcontext
    _checked: int = field(default=0, init=False)
    _turn_seconds: float = field(default=0.0, init=False)  # of a whole turn, but for its check
    _seeds: Seeds = field(init=False)
    _outcome: JudgeOutcome = field(init=False)

    def __post_init__(self) -> None:
        self._seeds = Seeds(self.config.seed, self.workload.uuid)
        self._outcome = JudgeOutcome()

    def evaluate(self) -> JudgeOutcome:
        """Return status, errors and times. Measurements from before a failure are included."""
        try:
            self._evaluate()
        except (Decided, InvalidReference) as failure:
            self._outcome.decide(failure)
        return self._outcome

    def _evaluate(self) -> None:
        picks = math.ceil(self.opened.rounds / (1 + self._timed_batches))
        times = self._measured(picks)
        while (left := self.opened.rounds - self._checked) > 0:
            with self.spent.on(ROUNDS):
                self._batch(WARM, left, left)
        self.process.survey()
        self._finish()
        self._outcome.seconds = self._fastest_trial(times)
        self._compare_with_baseline(times)

    def _measured(self, picks: int) -> list[CallTime]:
        """Warm up, and time calls."""
        with self.spent.on(WARM_UP):
            fastest = self._first_turns(picks)
        with self.quiet():
            with self.spent.on(WARM_UP):
                plan = self._plan(fastest)
            with self.spent.on(TIMING):
                return self._call_times(plan, picks)

    @property
    def _timed_batches(self) -> int:
        """Number of batches that have a share of the checks, beside the warm-up."""
        if self.config.device.startswith("cuda"):
            return 2  # With a recording, and without.
        return 1 if self.config.device == "emu" else self.config.num_trials

    def _first_turns(self, picks: int) -> float:
        """Return the faster of the first turns in seconds. The first call may compile."""
        more = self.config.compile_timeout_seconds if self.is_first else 0.0
        self.process.extend(self.config.timeout_seconds + more)
        return self._fastest_turn(min(_FIRST_WARM_UPS, self._warm_ups), picks)

    def _plan(self, fastest: float) -> TimingPlan:
        """Warm up with as many turns as fit into the time, as the `fastest` so far tells, and decide how
        many calls to time.
        """
        config = self.config
        more = self._warm_ups - _FIRST_WARM_UPS
        if left := warm_ups(fastest, more, config.device, self._turn_seconds):
            fastest = min(fastest, self._fastest_turn(left, 0))
        self.process.extend(config.timeout_seconds)
        plan = TimingPlan.of(
            fastest, config.iterations, config.num_trials, config.device, self._turn_seconds
        )
        self._outcome.facts |= {"iterations": plan.count, "trials": plan.trials}
        return plan

    @property
    def _warm_ups(self) -> int:
        return max(1, self.config.warmup_runs)

    def _fastest_turn(self, count: int, picks: int) -> float:
        batch = self._batch(WARM, count, picks)
        return min(turn.span for turn in self.process.timed(batch))

    def _compare_with_baseline(self, times: Sequence[CallTime]) -> None:
        baseline = self._baseline(bool(_calm(times))) if self.config.profile_baseline else None
        self._note_disturbances(times, baseline)
        if baseline is not None:
            self._outcome.reference_seconds = baseline.seconds
            if self.reference.clocks:
                self._outcome.facts["clocks"] = self.reference.clocks

    def _baseline(self, retry: bool) -> CallTime:
        """Return the time of the reference, and measure it only where that is needed: to hold a process is
        to search for all that it has started.
        """
        baseline = self.reference.baseline
        if known := baseline.known(self.config, retry):
            return known
        with self.quiet(), self.spent.on(BASELINE), self.process.sandboxed.held():
            return baseline.measured(self.config)

    def _finish(self) -> None:
        """Take the evaluator's verdict on all checked turns; raise Decided unless it is PASSED."""
        verdict = self.reference.finish()
        self._outcome.facts |= {"checked": self._checked}
        self._outcome.correctness = verdict["correctness"]
        if verdict["status"] != EvaluationStatus.PASSED.value:
            raise Decided(verdict["status"], verdict["note"])

    def _batch(self, mode: str, count: int, picks: int, lead: int = 0) -> list[dict[str, Any]]:
        """Run turns and return them as the referee saw them; raise Decided if any is wrong."""
        seeds, process = self._seeds.take(lead + count), self.process

        def take(seconds: float) -> dict[str, Any]:
            watched = is_watched(mode, self.config.device)
            return self.reference.turns(
                process, seeds, seconds, picks=picks, lead=lead, watched=watched
            )

        batch = process.turns(take, self.opened.bytes, mode)
        turns: list[dict[str, Any]] = batch["turns"]
        self._turn_seconds = seconds_of_turn(batch)
        self._checked += sum(turn["checked"] for turn in turns)
        process.settle()
        if batch["problem"]:
            raise Decided(*batch["problem"])
        if not batch["passed"]:
            self._finish()
        if mode == TIMED:
            self._record_timer(turns[-1]["claim"])
        return turns

    def _call_times(self, plan: TimingPlan, picks: int) -> list[CallTime]:
        """Time each trial; a trial that other work on the machine disturbed is repeated, unless all
        of them were: what disturbs then stays.
        """
        times: list[CallTime] = []
        repeated = plan.trials if plan.at_once else _MOST_REPEATED_TRIALS
        most = plan.trials + (0 if self.config.device == "emu" else repeated)
        while len(times) < plan.trials or (
            0 < len(_calm(times)) < plan.trials and len(times) < most
        ):
            with self.spent.on(OVERHEAD), self.process.sandboxed.held():
                overhead = self.reference.baseline.overhead(self.style)
            times += self._trials(plan, picks, overhead)
            if len(times) < plan.trials and plan.at_once:  # Too few turns were checked for more.
                break
        self._outcome.facts["overhead_ms"] = overhead * 1e3
        return _calm(times) or times

    def _trials(self, plan: TimingPlan, picks: int, overhead: float) -> list[CallTime]:
        timed = self._checked_turns(self._batch(TIMED, plan.timed, picks, plan.lead))
        if not self.config.device.startswith("cuda"):
            return [host_call_time(timed, overhead)]
        if self.opened.seconds < _SLOW_REFERENCE:
            picks = max(picks, min(plan.clocked, _CLOCKED_PICKS))
        clocked = self._checked_turns(self._batch(CLOCKED, plan.clocked, picks, plan.lead))
        return gpu_call_times(timed, clocked, overhead, plan.trials)

    def _checked_turns(self, turns: Sequence[dict[str, Any]]) -> list[TimedTurn]:
        """Select the turns with compared outputs: only these count as timed."""
        timed = self.process.timed(turns)
        return [one for one, turn in zip(timed, turns, strict=True) if turn["checked"]]

    def _record_timer(self, claim: Any) -> None:
        timer = str(claim.get("timer", "")) if isinstance(claim, dict) else ""
        self._outcome.facts["timer"] = timer[:40]

    def _fastest_trial(self, times: Sequence[CallTime]) -> float:
        """Return the seconds of a call in the fastest trial, which was disturbed least."""
        best = min(times, key=lambda time: time.seconds)
        self._outcome.facts |= {"wall_ms": best.wall * 1e3, "host_ms": best.host * 1e3}
        return best.seconds

    def _note_disturbances(self, times: Sequence[CallTime], baseline: CallTime | None) -> None:
        """Record why the times are unreliable; it is never held against the solution."""
        waiting = {"its calls": times[0]} if not times[0].is_calm else {}
        if baseline is not None and not baseline.is_calm:
            waiting["the reference's calls"] = baseline
        notes = [
            f"{who} waited for a CPU for {time.waiting:.0%} of their time"
            for who, time in waiting.items()
        ]
        if notes:
            self._outcome.facts["unclear"] = f"other work on this machine: {', '.join(notes)}"


def _calm(times: Sequence[CallTime]) -> list[CallTime]:
    return [time for time in times if time.is_calm]
