"""Timing of several sides against each other, round by round."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import count

from fictl.errors import InvalidValue, SetupError
from fictl.timing.choose import ladder, use_best
from fictl.timing.rotation import Rotation, rotations
from fictl.timing.samples import Samples
from fictl.timing.side import Side
from fictl.timing.stop import Stop
from fictl.timing.timer import Timer

# Much longer than the overhead of a round, and a thousand steps of the coarsest clock.
_ROUND_SECONDS = 1e-3
_SETTLED = 0.01
_WARM_UP_ROUNDS = 3


def measure(
    sides: Mapping[str, Side],
    *,
    timer: str = "auto",
    device: str = "cuda",
    cold: bool = True,
    stop: Stop = Stop(),  # noqa: B008  # frozen
    progress: Callable[[int], object] | None = None,
) -> dict[str, Samples]:
    """Time all sides in every round, in alternating order, so that a disturbance affects all alike.

    Sample i of each side belongs to round i.

    cold: keep each call's data out of L2; the samples say if that was achieved.
    progress: called with the number of each finished round.
    """
    if not sides:
        raise InvalidValue("there is no side to time", "give at least one")
    steps = ladder(timer, device)
    with _current(device):
        turns = rotations(sides, device, cold=cold)

        def use(chosen: Timer) -> dict[str, Samples]:
            known = _warm_up(chosen, turns, stop)
            longer = [
                turn.lasting(_ROUND_SECONDS, call) for turn, call in zip(turns, known, strict=True)
            ]
            seconds = _interleave(chosen, longer, stop, progress or (lambda number: None))
            return {turn.name: _samples(chosen, turn, seconds[turn]) for turn in longer}

        measured, why = use_best(steps, use)
    return {name: replace(samples, why=why) for name, samples in measured.items()}


def _warm_up(timer: Timer, turns: Sequence[Rotation], stop: Stop) -> list[float]:
    """Run rounds until two agree and the GPU had time to raise its clocks; return seconds per call.

    After some rounds, stop without agreement: the remaining difference is noise.
    """
    start = time.perf_counter()
    last: list[float] = []
    for rounds in count(1):
        now = [timer.time(turn) for turn in turns]
        settled = rounds >= _WARM_UP_ROUNDS or (bool(last) and _agree(last, now))
        elapsed = time.perf_counter() - start
        if (settled and elapsed >= stop.min_seconds) or elapsed >= stop.max_seconds:
            break
        last = now
    return now


def _agree(last: Sequence[float], now: Sequence[float]) -> bool:
    return all(abs(a - b) <= _SETTLED * b for a, b in zip(last, now, strict=True))


def _interleave(
    timer: Timer, turns: Sequence[Rotation], stop: Stop, progress: Callable[[int], object]
) -> dict[Rotation, list[float]]:
    seconds: dict[Rotation, list[float]] = {turn: [] for turn in turns}
    start = time.perf_counter()
    order = list(turns)
    while not stop.reached(seconds.values(), time.perf_counter() - start):
        for turn in order:
            seconds[turn].append(timer.time(turn))
        order.reverse()
        progress(len(seconds[turns[0]]))
    return seconds


def _samples(timer: Timer, turn: Rotation, seconds: Sequence[float]) -> Samples:
    return Samples(tuple(seconds), timer.name, turn.cold, turn.copies, timer.kernels(turn))


@contextmanager
def _current(device: str) -> Iterator[None]:
    if not device.startswith("cuda"):
        yield
        return
    import torch

    if not torch.cuda.is_available():
        raise SetupError(
            f"there is no GPU to time on: torch {torch.__version__} finds no CUDA device",
            "fictl doctor; on CPU tensors: device='cpu'",
        )
    with torch.cuda.device(device) if ":" in device else nullcontext():
        yield
