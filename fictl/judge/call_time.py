"""The time of a call, from checked turns: the referee's clock and the solution process's claim.

The referee's clock runs around the whole turn; the time of the same turn without a solution (the
overhead) is subtracted. The smallest overhead seen is used: noise only ever adds time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

# On a GPU the host launches kernels while the GPU waits. Launches are not part of the work's time,
# so for this many seconds of a turn the claim decides.
LAUNCHES = 0.2e-3
# A turn counts as disturbed if its threads waited for a CPU longer than this.
_WAITING, _WAKING = 0.1, 100e-6
_SHORTEST = 1e-9


@dataclass(frozen=True)
class TimedTurn:
    """One turn, in seconds. `claim` and `host` are reported by the solution's process."""

    span: float
    waited: float
    claim: float
    host: float

    @property
    def is_calm(self) -> bool:
        return self.waited <= _WAITING * self.span + _WAKING

    def bound(self, overhead: float) -> float:
        """Return the least time the call took, by the referee's clock."""
        return max(0.0, self.span - overhead)


@dataclass(frozen=True)
class CallTime:
    """`seconds` of a call; `wall` is the bound by the referee's clock; `waiting` a share
    of time.
    """

    seconds: float
    wall: float
    host: float
    waiting: float
    is_calm: bool


def host_call_time(turns: Sequence[TimedTurn], overhead: float) -> CallTime:
    """Time synchronous calls: each turn's claim, or its bound if larger."""
    return _call_time(turns, overhead, 0.0, 0.0)


def gpu_call_time(
    exact: Sequence[TimedTurn], clocked: Sequence[TimedTurn], overhead: float
) -> CallTime:
    """Time calls that run on a GPU. The claim comes from `exact` turns, whose host is slowed down by
    recording the GPU's activity; the bound comes from `clocked` turns, which record nothing. Without
    `exact` turns the bound alone counts, and what the host has waited.
    """
    claim = median(_faster_half([turn.claim for turn in exact])) if exact else 0.0
    return _call_time(clocked, overhead, LAUNCHES, claim)


def gpu_call_times(
    exact: Sequence[TimedTurn], clocked: Sequence[TimedTurn], overhead: float, trials: int
) -> list[CallTime]:
    """Time the trials of one batch: its successive parts, fewer of them where turns are few."""
    trials = max(1, min(trials, len(clocked), len(exact) or len(clocked)))
    pairs = zip(_parts(exact, trials), _parts(clocked, trials), strict=True)
    return [gpu_call_time(*pair, overhead) for pair in pairs]


def _parts(turns: Sequence[TimedTurn], count: int) -> list[Sequence[TimedTurn]]:
    ends = [len(turns) * number // count for number in range(count + 1)]
    return [turns[start:end] for start, end in pairwise(ends)]


def _call_time(
    turns: Sequence[TimedTurn], overhead: float, launches: float, claim: float
) -> CallTime:
    """Use the faster half of the undisturbed turns, or of all turns if too few are undisturbed."""
    calm = [turn for turn in turns if turn.is_calm]
    is_calm = 2 * len(calm) >= len(turns)

    def seconds(turn: TimedTurn) -> float:
        return max(claim or turn.claim, turn.bound(overhead) - launches, _SHORTEST)

    used = sorted(calm if is_calm else turns, key=seconds)
    fast = used[: math.ceil(len(used) / 2)]
    return CallTime(
        seconds=median(map(seconds, fast)),
        wall=median(turn.bound(overhead) for turn in fast),
        host=median(turn.host for turn in fast),
        waiting=min(1.0, sum(turn.waited for turn in fast) / sum(turn.span for turn in fast)),
        is_calm=is_calm,
    )


def _faster_half(values: Sequence[float]) -> list[float]:
    return sorted(values)[: math.ceil(len(values) / 2)]
