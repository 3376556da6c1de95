"""Rounds of calls that all ranks begin together; the time of a call is that of the slowest rank."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol

from fictl.ranks.team import Team
from fictl.timing.event_pair import EventPair
from fictl.timing.lead import lead
from fictl.timing.rotation import COLD, Memory, copies, memory_here
from fictl.timing.samples import Samples
from fictl.timing.side import Side
from fictl.timing.stop import Stop

_ROUND_SECONDS = 1e-3
_MOST_CALLS = 128
_WARM_UP_ROUNDS = 3
_FIRST_LEAD_SECONDS = 1e-3

Calls = Sequence[Callable[[], object]]


class RankTimer(Protocol):
    """Times calls after a barrier, on one rank."""

    name: str

    def time(self, calls: Calls) -> float: ...


class DeviceBarrier:
    """Times by CUDA events behind a barrier in the same stream: no host is waited for.

    The barrier is a sum over the ranks, which no rank has before all have come to it.
    """

    name = "events"

    def __init__(self) -> None:
        import torch

        self._token = torch.ones(1, device="cuda")
        self._host_seconds = _FIRST_LEAD_SECONDS

    def time(self, calls: Calls) -> float:
        import torch.distributed as dist

        lead(self._host_seconds)
        began = time.perf_counter()
        dist.all_reduce(self._token)
        with EventPair() as pair:
            for call in calls:
                call()
        self._host_seconds = time.perf_counter() - began
        self._token.fill_(1)
        return pair.seconds() / len(calls)


class HostBarrier:
    """Times by the host's clock, where the calls end before they return."""

    name = "host"

    def time(self, calls: Calls) -> float:
        import torch.distributed as dist

        dist.barrier()
        began = time.perf_counter()
        for call in calls:
            call()
        return (time.perf_counter() - began) / len(calls)


@dataclass(frozen=True)
class _Turn:
    """The calls of one side in a round: each copy once, several times over."""

    calls: tuple[Callable[[], object], ...]
    copies: int
    cold: bool

    def lasting(self, call: float) -> _Turn:
        wanted = math.ceil(_ROUND_SECONDS / (call * len(self.calls)))
        repeats = max(1, min(wanted, _MOST_CALLS // len(self.calls)))
        return _Turn(self.calls * repeats, self.copies, self.cold)


def time_rounds(
    sides: Mapping[str, Side],
    team: Team,
    *,
    device: str,
    cold: bool,
    stop: Stop,
    progress: Callable[[int], object],
) -> dict[str, Samples]:
    """Time all sides in every round, in alternating order. All ranks decide alike when to end."""
    timer: RankTimer = DeviceBarrier() if device != "cpu" else HostBarrier()
    turns = {name: _turn(side, team, device, len(sides), cold=cold) for name, side in sides.items()}
    known = _warm_up(timer, turns, team, stop)
    turns = {name: turn.lasting(known[name]) for name, turn in turns.items()}
    seconds = _interleave(timer, turns, team, stop, progress)
    return {
        name: Samples(tuple(seconds[name]), timer.name, turn.cold, turn.copies)
        for name, turn in turns.items()
    }


def _turn(side: Side, team: Team, device: str, sides: int, *, cold: bool) -> _Turn:
    """Make as many copies as every rank has memory for."""
    number, l2 = 1, 0
    if cold and device != "cpu":
        memory = memory_here()
        l2 = memory.l2
        number = copies(side.working_set, Memory(l2, int(0.8 * memory.free / sides)))
    number = min(team.everyone(number))
    is_cold = bool(l2) and number * side.working_set >= COLD * l2
    return _Turn(tuple(side.make(index) for index in range(number)), number, is_cold)


def _warm_up(
    timer: RankTimer, turns: Mapping[str, _Turn], team: Team, stop: Stop
) -> dict[str, float]:
    start = time.perf_counter()
    for rounds in count(1):
        slowest, elapsed = _round(timer, turns, [*turns], team, start)
        if rounds >= _WARM_UP_ROUNDS and elapsed >= stop.min_seconds:
            return slowest
        if elapsed >= stop.max_seconds:
            return slowest
    raise AssertionError("rounds do not end")


def _interleave(
    timer: RankTimer,
    turns: Mapping[str, _Turn],
    team: Team,
    stop: Stop,
    progress: Callable[[int], object],
) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {name: [] for name in turns}
    start, elapsed = time.perf_counter(), 0.0
    order = [*turns]
    while not stop.reached(seconds.values(), elapsed):
        slowest, elapsed = _round(timer, turns, order, team, start)
        for name, value in slowest.items():
            seconds[name].append(value)
        order.reverse()
        progress(len(seconds[order[0]]))
    return seconds


def _round(
    timer: RankTimer, turns: Mapping[str, _Turn], order: Sequence[str], team: Team, start: float
) -> tuple[dict[str, float], float]:
    """Run one round; return the slowest rank's seconds of each side, and the longest time so far."""
    own: dict[str, Any] = {name: timer.time(turns[name].calls) for name in order}
    ranks = team.everyone([own, time.perf_counter() - start])
    slowest = {name: max(times[name] for times, _ in ranks) for name in turns}
    return slowest, max(elapsed for _, elapsed in ranks)
