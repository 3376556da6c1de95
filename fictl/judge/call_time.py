"""The time of a call: of turns that were checked, by the referee's clock and by the claim.

The referee's clock is around all of a turn; what the same turn takes without a solution is taken
off. The least of that which was seen is: noise makes a number larger, and never smaller.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

# On a GPU the host launches while the GPU waits, and that is no part of the work's time: so much of
# a turn is left to the claim.
LAUNCHES = 0.2e-3
# A turn counts as disturbed beyond so much of waiting for a CPU.
_WAITING, _WAKING = 0.1, 100e-6
_SHORTEST = 1e-9


@dataclass(frozen=True)
class TimedTurn:
    """One turn, in seconds: `claim` and `host` are what the solution's process says."""

    span: float
    waited: float
    claim: float
    host: float

    @property
    def is_calm(self) -> bool:
        return self.waited <= _WAITING * self.span + _WAKING

    def bound(self, overhead: float) -> float:
        """What it took at least, by the referee's clock."""
        return max(0.0, self.span - overhead)


@dataclass(frozen=True)
class CallTime:
    """`seconds` of a call; `wall` is the bound by the referee's clock; `waiting` a share of time."""

    seconds: float
    wall: float
    host: float
    waiting: float
    is_calm: bool


def number(turns: Sequence[TimedTurn], overhead: float) -> CallTime:
    """Of calls that have ended when they return: of each turn its claim, or its bound if that is more."""
    return _number(turns, overhead, 0.0, 0.0)


def gpu_call_time(
    exact: Sequence[TimedTurn], clocked: Sequence[TimedTurn], overhead: float
) -> CallTime:
    """What is claimed comes of some turns, where the GPU's records make the host slow; the bound of
    others, where nothing does.
    """
    claim = median(_faster([turn.claim for turn in exact]))
    return _number(clocked, overhead, LAUNCHES, claim)


def _number(turns: Sequence[TimedTurn], overhead: float, off: float, claim: float) -> CallTime:
    """Of the faster half of the turns that nothing disturbed; of all, where those are too few."""
    calm = [turn for turn in turns if turn.is_calm]
    is_calm = 2 * len(calm) >= len(turns)

    def seconds(turn: TimedTurn) -> float:
        return max(claim or turn.claim, turn.bound(overhead) - off, _SHORTEST)

    used = sorted(calm if is_calm else turns, key=seconds)
    fast = used[: math.ceil(len(used) / 2)]
    return CallTime(
        median(map(seconds, fast)),
        median(turn.bound(overhead) for turn in fast),
        median(turn.host for turn in fast),
        min(1.0, sum(turn.waited for turn in fast) / sum(turn.span for turn in fast)),
        is_calm,
    )


def _faster(values: Sequence[float]) -> list[float]:
    return sorted(values)[: math.ceil(len(values) / 2)]
