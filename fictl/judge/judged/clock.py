"""Timing turns: the host's clock for calls that have ended when they return, a GPU's own else."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fictl.judge.judged.turn import Turn
from fictl.timing.choose import use_best
from fictl.timing.cupti import Cupti
from fictl.timing.events import Events
from fictl.timing.host import Host
from fictl.timing.rotation import COLD, Rotation
from fictl.timing.timer import Timer, Unusable

# Held from before a solution is there: what it puts in their places is not called.
_NOW = time.perf_counter


@dataclass(frozen=True)
class Timed:
    """Seconds of one call, on average; `why` it was no better timer."""

    seconds: float
    timer: str
    why: str = ""


def timed(
    turns: Sequence[Turn], call: Callable[[Turn], object], device: str, lead: int = 0
) -> Timed:
    """Every turn once. What each left is kept before the next begins, outside of the time.

    The first `lead` of them are not timed.
    """
    for turn in turns[:lead]:
        call(turn)
        turn.keep()
    turns = turns[lead:]
    if device.startswith("cuda"):
        return _on_gpu(turns, call)
    now = _NOW
    seconds = 0.0
    for turn in turns:
        start = now()
        call(turn)
        seconds += now() - start
        turn.keep()
    return Timed(seconds / len(turns), Host.name)


def clocked(
    turns: Sequence[Turn], call: Callable[[Turn], object], wait: Callable[[], object]
) -> float:
    """One after the other, with nothing between, for who waits outside; the host's share of it."""
    now = _NOW
    start = now()
    for turn in turns:
        call(turn)
    host = now() - start
    wait()
    return host / len(turns)


def _on_gpu(turns: Sequence[Turn], call: Callable[[Turn], object]) -> Timed:
    def use(timer: Timer) -> tuple[float, str]:
        rotation = Rotation(
            "the solution", tuple(_bound(call, turn) for turn in turns), True, _between(turns)
        )
        seconds = timer.time(rotation)
        if timer.remark() and any(set(turn.inputs) & set(turn.given) for turn in turns):
            raise Unusable("records were lost, and what is written in place is not timed twice")
        return seconds, timer.name

    (seconds, name), why = use_best([Cupti, Events], use)
    return Timed(seconds, name, why)


def _bound(call: Callable[[Turn], object], turn: Turn) -> Callable[[], object]:
    return lambda: call(turn)


def _between(turns: Sequence[Turn]) -> Callable[[], object]:
    """Keep what the turn before has left, then empty the cache of it."""
    import torch

    cuda: Any = torch.cuda
    l2 = cuda.get_device_properties(cuda.current_device()).L2_cache_size
    buffer = torch.empty(int(COLD * l2), dtype=torch.uint8, device="cuda")
    done = 0

    def step() -> None:
        nonlocal done
        if done % len(turns):
            turns[done % len(turns) - 1].keep()
        done += 1
        buffer.zero_()

    return step
