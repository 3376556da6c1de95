"""The turns of a solution on a GPU: which, how many, and how many of them are checked. They are stand-ins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from fictl.judge.call_time import TimedTurn
from fictl.judge.config import EvalConfig
from fictl.judge.modes import CLOCKED, TIMED, WARM, WRITES
from fictl.judge.reference import Opened
from fictl.judge.solution_trial import SolutionTrial

from .judge_runs import WORKLOAD

OVERHEAD = 1e-3


class Tried(SolutionTrial):
    """A trial whose calls take `call` seconds, whole turns `turn`; `checks` limits those of a batch."""

    def __init__(
        self,
        call: float = 1e-5,
        turn: float = 3e-3,
        checks: int = 99,
        slow: float = 1e-5,
        waits: int = 0,
    ) -> None:
        overhead = SimpleNamespace(overhead=lambda style: OVERHEAD, call_time=lambda *_: None)
        process: Any = SimpleNamespace(
            sandboxed=SimpleNamespace(held=nullcontext),
            extend=lambda seconds: None,
            timed=lambda turns: [TimedTurn(*one["times"]) for one in turns],
        )
        reference: Any = SimpleNamespace(baseline=overhead, clocks={})
        super().__init__(
            process=process,
            reference=reference,
            workload=WORKLOAD,
            config=EvalConfig(device="cuda", profile_baseline=False),
            opened=Opened(64, slow, 3, "default", True),
            style=WRITES,
            quiet=self._in_quiet,
        )
        self.call, self.turn, self.checks, self.waits = call, turn, checks, waits
        self.batches: list[tuple[str, int, int]] = []

    def _batch(self, mode: str, count: int, picks: int, lead: int = 0) -> list[dict[str, Any]]:
        self.batches.append((mode, lead + count, picks))
        self._turn_seconds = self.turn
        checked = max(picks, min(self.checks, count))
        self._checked += checked
        times = (OVERHEAD + self.call, 0.0, self.call, self.call)  # As those of TimedTurn.
        return [
            {
                "times": (times[0], self.call * 99 * (number - lead < self.waits), *times[2:]),
                "checked": lead <= number < lead + checked,
                "claim": {},
            }
            for number in range(lead + count)
        ]

    @contextmanager
    def _in_quiet(self) -> Iterator[None]:
        self.batches.append(("quiet", 0, 0))
        yield
        self.batches.append(("loud", 0, 0))

    def timed(self) -> float:
        return min(time.seconds for time in self._measured(1))

    @property
    def turns(self) -> list[tuple[str, int, int]]:
        return [batch for batch in self.batches if batch[0] not in ("quiet", "loud")]


def test_a_short_call_has_four_batches() -> None:
    trial = Tried()
    assert trial.timed() == pytest.approx(1e-5)
    assert trial.turns == [(WARM, 2, 1), (WARM, 8, 0), (TIMED, 33, 1), (CLOCKED, 13, 2)]


def test_all_that_decides_a_time_happens_in_quiet_and_nothing_else() -> None:
    trial = Tried()
    trial.timed()
    assert [batch[0] for batch in trial.batches] == [WARM, "quiet", WARM, TIMED, CLOCKED, "loud"]


def test_turns_of_gigabytes_are_few() -> None:
    trial = Tried(call=1e-3, turn=0.15)
    assert trial.timed() == pytest.approx(1e-3)
    assert sum(count for _, count, _ in trial.turns) == 2 + 1 + 5 + 2


def test_a_call_of_seconds_is_timed_once() -> None:
    trial = Tried(call=2.0, turn=2.1)
    assert trial.timed() == pytest.approx(2.0)
    assert trial.turns[-2:] == [(TIMED, 1, 1), (CLOCKED, 1, 1)]


@pytest.mark.parametrize(("slow", "picks"), [(0.2, 2), (5.0, 1)])
def test_where_the_reference_is_slow_few_turns_are_checked_and_only_those_count(
    slow: float, picks: int
) -> None:
    trial = Tried(checks=1, slow=slow)
    assert trial.timed() == pytest.approx(1e-5)
    assert trial.turns[-1] == (CLOCKED, 13, picks)
    assert trial._checked == 1 + 1 + 1 + picks


def test_calls_that_the_warm_up_does_not_want_are_not_made() -> None:
    trial = Tried()
    trial.config = EvalConfig(device="cuda", profile_baseline=False, warmup_runs=0, iterations=1)
    trial.timed()
    assert trial.batches[0] == (WARM, 1, 1)
    assert trial.turns[-2:] == [(TIMED, 6, 1), (CLOCKED, 4, 1)]


@pytest.mark.parametrize(("waits", "batches"), [(0, 2), (3, 4), (99, 2)])
def test_a_batch_that_was_disturbed_in_part_is_repeated_once(waits: int, batches: int) -> None:
    trial = Tried(waits=waits)
    trial.timed()
    assert len([mode for mode, _, _ in trial.batches if mode in (TIMED, CLOCKED)]) == batches


class Known:
    """A baseline whose time is `call`, or is still to be measured."""

    def __init__(self, trial: Tried, call: Any) -> None:
        self.steps: list[str] = []
        self.call = call
        trial.reference = self
        trial.process.sandboxed = SimpleNamespace(held=self._held)  # type: ignore[misc]
        trial.quiet = nullcontext

    @property
    def baseline(self) -> Any:
        return SimpleNamespace(known=lambda *_: self.call, measured=self._measured)

    @contextmanager
    def _held(self) -> Iterator[None]:
        self.steps.append("held")
        yield

    def _measured(self, *_: Any) -> str:
        self.steps.append("measured")
        return "measured"


@pytest.mark.parametrize(("call", "steps"), [("known", []), (None, ["held", "measured"])])
def test_a_process_is_held_only_where_the_reference_is_timed(
    call: str | None, steps: list[str]
) -> None:
    trial = Tried()
    known = Known(trial, call)
    assert trial._baseline(retry=True) == (call or "measured")  # type: ignore[comparison-overlap]
    assert known.steps == steps
