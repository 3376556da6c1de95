"""How often a reference is called on a GPU to be timed. Turns are stand-ins: no GPU is needed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from fictl.judge.baseline import Baseline
from fictl.judge.baseline_times import BaselineTimes
from fictl.judge.call_time import TimedTurn
from fictl.judge.config import EvalConfig
from fictl.judge.modes import CLOCKED, TIMED
from fictl.judge.reference import Opened

from .judge_runs import WORKLOAD, definition

OVERHEAD, RECORDED = 1e-3, 1e-5


class Timed(Baseline):
    """A baseline whose turns take `real` seconds beside the overhead, `loading` the first one of all.

    seemed: seconds of the reference when its workload was opened.
    """

    def __init__(self, seemed: float, real: float, loading: float = 0.0) -> None:
        opened = Opened(64, seemed, 3, "default", True)
        self._reference: Any = SimpleNamespace(
            opened=opened, device="cuda", clocks={}, definition=definition(), workload=WORKLOAD
        )
        self._times = BaselineTimes()
        self._turn_seconds = 3e-3
        self.real, self.loading = real, loading
        self.called: list[tuple[str, int]] = []

    def overhead(self, style: str) -> float:
        return OVERHEAD

    def _timed(self, lead: int, count: int, mode: str, *, clocks: bool = False) -> list[TimedTurn]:
        self.called.append((mode, count))
        span = OVERHEAD + self.real + self.loading
        self.loading = 0.0
        claim = RECORDED if mode == TIMED else self.real
        return [TimedTurn(span, 0.0, claim, self.real)] * count

    def seconds(self) -> float:
        return self.call_time(EvalConfig(device="cuda")).seconds


def test_a_short_one_is_recorded_and_then_clocked() -> None:
    timed = Timed(5e-5, 5e-5)
    assert timed.seconds() == RECORDED
    assert [mode for mode, _ in timed.called] == [TIMED, CLOCKED]
    assert [count for _, count in timed.called] == [27, 9]


@pytest.mark.parametrize("loading", [0.0, 0.3])
def test_one_that_only_seemed_slow_is_timed_as_what_it_is(loading: float) -> None:
    timed = Timed(0.2, 5e-5, loading)
    assert timed.seconds() == RECORDED
    tries = 2 if loading else 1
    assert timed.called == [*[(CLOCKED, 1)] * tries, (TIMED, 27), (CLOCKED, 9)]


@pytest.mark.parametrize(("real", "calls"), [(0.2, 2), (0.6, 1), (30.0, 1)])
def test_a_slow_one_is_called_once_or_twice(real: float, calls: int) -> None:
    timed = Timed(real, real)
    assert timed.seconds() == pytest.approx(real, rel=1e-2)
    assert timed.called == [(CLOCKED, 1)] * calls


def test_it_is_not_called_again_for_another_solution() -> None:
    timed = Timed(5e-5, 5e-5)
    first = timed.seconds()
    timed.called.clear()
    assert timed.seconds() == first
    assert not timed.called
