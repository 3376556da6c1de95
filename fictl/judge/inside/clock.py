"""Timers in a solution's process, for its claims: the host's clock, CUDA events or CUPTI."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from fictl.judge.modes import CLOCKED, WARM
from fictl.timing.activity import Recording
from fictl.timing.event_pair import EventPair
from fictl.timing.timer import LaunchedNothing, Unusable

# Bound before a solution is loaded, so that a replacement by the solution is never called.
_NOW = time.perf_counter
_NS = 1e-9
# Nanoseconds by which the clocks of GPU and host may differ, beside what is known of it.
_CLOCKS_DIFFER = 50_000
_COMPARED = 3  # kernels by which the clocks are compared


class WorkedElsewhere(Exception):
    """The GPU ran work of this process outside of a call."""


@dataclass(frozen=True)
class Claim:
    """Seconds of one call and of its host part; `why` explains why no better timer was used."""

    seconds: float
    host: float
    timer: str
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class HostClock:
    """Times synchronous calls by the host's clock."""

    def __init__(self, why: str = "") -> None:
        self._why = why

    def __enter__(self) -> HostClock:
        return self

    def __exit__(self, *raised: object) -> None:
        return None

    def begin(self) -> None:
        """Start a turn, before its inputs exist."""

    def time(self, call: Callable[[], object]) -> None:
        start = _NOW()
        call()
        self._seconds = _NOW() - start

    def end(self) -> Claim:
        """End a turn, after its outputs were read, and return the claim."""
        return Claim(self._seconds, self._seconds, "host", self._why)


class EventClock(HostClock):
    """Times a call by a pair of CUDA events, if CUPTI is not available."""

    def time(self, call: Callable[[], object]) -> None:
        start = _NOW()
        with EventPair() as self._pair:
            call()
        self._seconds = _NOW() - start

    def end(self) -> Claim:
        return Claim(self._pair.seconds(), self._seconds, "events", self._why)


class CuptiClock(HostClock):
    """Times a call from its first kernel's start to the end of its last kernel.

    CUPTI tells times of the GPU in those of the host. It compares the two clocks when it is loaded, and
    is wrong by as much as this process had to wait in that moment, for a CPU or while it was stopped.
    """

    def __init__(self) -> None:
        super().__init__()
        self._recording = Recording(calls=False)
        self._ahead = 0  # nanoseconds of the GPU's clock

    def __enter__(self) -> CuptiClock:
        self._recording.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._recording.__exit__(None, None, None)

    def compare(self, launch: Callable[[], object]) -> None:
        """Learn how far ahead the GPU's clock is, by kernels that run within known times of the host's.

        Raise Unusable if none is recorded: without permission CUPTI accepts all calls and records nothing.
        """
        wait()
        self._recording.take_all()
        times = [self._launched(launch) for _ in range(_COMPARED)]
        done = sorted(self._recording.take_all() or (), key=lambda one: one.start)
        if len(done) != len(times):
            raise Unusable("CUPTI records no kernel of this process", "fictl doctor")
        pairs = [*zip(done, times, strict=True)]
        least = max(one.end - end for one, (_, end) in pairs)
        most = min(one.start - start for one, (start, _) in pairs)
        self._ahead = (least + most) // 2

    def begin(self) -> None:
        wait()
        self._begun = self._recording.now()

    def time(self, call: Callable[[], object]) -> None:
        self._start = self._recording.now()
        start = _NOW()
        call()
        self._seconds = _NOW() - start
        wait()
        self._end = self._recording.now()

    def end(self) -> Claim:
        """Separate the call's kernels from the harness's own copies, which come after it, and from
        those of the turn before, which had ended when this one began.
        """
        wait()
        done = self._recording.take_all()
        if done is None:
            return Claim(self._seconds, self._seconds, "host", "CUPTI lost records")
        begun, start, last = (at + self._ahead for at in (self._begun, self._start, self._end))
        first = start - _CLOCKS_DIFFER
        inside = [one for one in done if first <= one.start <= last]
        elsewhere = any(begun + _CLOCKS_DIFFER < one.start < first for one in done)
        if (elsewhere or not inside) and self._has_been_set():
            return Claim(self._seconds, self._seconds, "host", "CUPTI has set its clock")
        if elsewhere:
            raise WorkedElsewhere("the GPU worked before the call began: that time is not measured")
        if not inside:
            raise LaunchedNothing(
                "the call launched nothing on the GPU: a result kept from an earlier "
                "call, or work on the CPU, cannot be timed as a kernel"
            )
        seconds = (max(one.end for one in inside) - min(one.start for one in inside)) * _NS
        return Claim(seconds, self._seconds, "cupti")

    def _launched(self, launch: Callable[[], object]) -> tuple[int, int]:
        """Launch a kernel; return times of the host from before it began and after it had ended."""
        start = self._recording.now()
        launch()
        wait()
        return start, self._recording.now()

    def _has_been_set(self) -> bool:
        """Tell whether the clocks differ by something else than they did: nobody is blamed for that."""
        before = self._ahead
        self.compare(_kernel())
        return abs(self._ahead - before) > _CLOCKS_DIFFER // 2


@contextmanager
def clock(device: str, mode: str) -> Iterator[HostClock]:
    """The most exact timer here for TIMED turns; a timer without overhead for other modes."""
    with ExitStack() as kept:
        if device != "cuda" or mode == CLOCKED:
            yield HostClock()
        elif mode == WARM:
            yield EventClock()
        else:
            yield _cupti(kept)


def _cupti(kept: ExitStack) -> HostClock:
    with ExitStack() as tried:
        try:
            cupti = tried.enter_context(CuptiClock())
            cupti.compare(_kernel())
        except Unusable as error:
            return EventClock(error.message)
        kept.push(tried.pop_all())
        return cupti


def wait() -> None:
    """Wait until the GPU is idle; errors of its kernels are raised here."""
    import torch

    torch.cuda.synchronize()


def _kernel() -> Callable[[], object]:
    """Return what launches a kernel."""
    import torch

    one = torch.zeros(1, device="cuda")
    return lambda: one.add_(1)
