"""Energy of one call, from a counter that moves in steps."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from fictl.errors import FictlError
from fictl.power.counter import Counter

# The board's power settles within this time.
WARM_UP_SECONDS = 0.5
# At least ten steps of the slowest counter.
WINDOW_SECONDS = 1.5
_PATIENCE_SECONDS = 10.0


class NoEnergy(FictlError):
    """The counter did not move while the GPU worked."""


@dataclass(frozen=True)
class Energy:
    """Energy of one call in joules, and the board's power meanwhile.

    seconds: duration of one call while energy was counted, gaps between calls included.
    """

    joules: float
    watts: float
    seconds: float


@dataclass(frozen=True)
class _Step:
    """The counter right after it moved, with the calls done until then."""

    joules: float
    seconds: float
    calls: int


def energy_of(
    work: Callable[[], object],
    calls: int,
    counter: Counter,
    clock: Callable[[], float] = time.perf_counter,
) -> Energy:
    """Repeat `work`, which makes `calls` calls and waits for them, and count its energy.

    Only whole steps of the counter count: the first one after the warm-up begins the window, the
    last one ends it. What is left is the duration of one `work` at each end.
    """
    start, done, last = clock(), 0, counter()
    steps: list[_Step] = []
    while True:
        work()
        done += calls
        now, joules = clock() - start, counter()
        if joules > last and now >= WARM_UP_SECONDS:
            steps.append(_Step(joules, now, done))
        last = joules
        if len(steps) > 1 and steps[-1].seconds - steps[0].seconds >= WINDOW_SECONDS:
            return _between(steps)
        if now >= WARM_UP_SECONDS + _PATIENCE_SECONDS:
            if len(steps) > 1:
                return _between(steps)
            raise NoEnergy(
                f"the energy counter moved {len(steps)} times within {now:.0f} s of work"
            )


def _between(steps: list[_Step]) -> Energy:
    first, last = steps[0], steps[-1]
    joules, seconds = last.joules - first.joules, last.seconds - first.seconds
    calls = last.calls - first.calls
    return Energy(joules / calls, joules / seconds, seconds / calls)
