"""What a solution's process claims of a call: the host's clock there, and what CUPTI says of the GPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any

from fictl.judge.modes import CLOCKED, WARM
from fictl.timing.activity import Recording
from fictl.timing.event_pair import EventPair
from fictl.timing.timer import LaunchedNothing, Unusable

# Held from before a solution is there: what it puts in their places is not called.
_NOW = time.perf_counter
_NS = 1e-9
_CALL = 1
# In nanoseconds: when the GPU says that a kernel began is not by the host's clock.
_CLOCKS_DIFFER = 50_000


class WorkedElsewhere(Exception):
    """The GPU had work of this process that no call was waiting for."""


@dataclass(frozen=True)
class Claim:
    """Seconds of one call, and what the host took of them; `why` it was no better timer."""

    seconds: float
    host: float
    timer: str
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class HostClock:
    """For calls that have ended when they return."""

    def __init__(self, why: str = "") -> None:
        self._why = why

    def __enter__(self) -> HostClock:
        return self

    def __exit__(self, *raised: object) -> None:
        return None

    def begin(self) -> None:
        """Of a turn, before its inputs are there."""

    def time(self, call: Callable[[], object]) -> None:
        start = _NOW()
        call()
        self._seconds = _NOW() - start

    def end(self) -> Claim:
        """Of a turn, when its outputs have been read."""
        return Claim(self._seconds, self._seconds, "host", self._why)


class EventClock(HostClock):
    """A pair of CUDA events, where there is no CUPTI."""

    def time(self, call: Callable[[], object]) -> None:
        start = _NOW()
        with EventPair() as self._pair:
            call()
        self._seconds = _NOW() - start

    def end(self) -> Claim:
        return Claim(self._pair.seconds(), self._seconds, "events", self._why)


class CuptiClock(HostClock):
    """From the first kernel to the last that ran from the call's begin until the GPU was idle."""

    def __init__(self) -> None:
        super().__init__()
        self._recording = Recording()

    def __enter__(self) -> CuptiClock:
        self._recording.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._recording.__exit__(None, None, None)

    def begin(self) -> None:
        wait()
        self._recording.take_all()
        self._begun = self._recording.now()

    def time(self, call: Callable[[], object]) -> None:
        self._start = self._recording.now()
        start = _NOW()
        self._recording.run(_CALL, call)
        self._seconds = _NOW() - start
        wait()
        self._end = self._recording.now()

    def end(self) -> Claim:
        """The harness's own copies come after the call; what else there is has no call."""
        wait()
        done = self._recording.take_all()
        if done is None:
            return Claim(self._seconds, self._seconds, "host", "CUPTI lost records")
        own = [one for one in done if one.call == _CALL]
        others = [one for one in done if one.call != _CALL and one.start <= self._end]
        if any(one.start < self._start - _CLOCKS_DIFFER for one in others):
            raise WorkedElsewhere("the GPU worked before the call: its time leaves that out")
        inside = own + [one for one in others if one.start > self._start + _CLOCKS_DIFFER]
        if not inside:
            raise LaunchedNothing(
                "the call launched nothing on the GPU: a result that is kept from an earlier "
                "call, or work on the CPU, cannot be timed as a kernel"
            )
        seconds = (max(one.end for one in inside) - min(one.start for one in inside)) * _NS
        return Claim(seconds, self._seconds, "cupti")


@contextmanager
def clock(device: str, mode: str) -> Iterator[HostClock]:
    """The best that works here for turns that are TIMED; of others, none that takes time itself."""
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
            made = tried.enter_context(CuptiClock())
            _try(made)
        except Unusable as error:
            return EventClock(error.message)
        kept.push(tried.pop_all())
        return made


def wait() -> None:
    """Until the GPU has done all that this process gave it: what went wrong there is raised here."""
    import torch

    torch.cuda.synchronize()


def _try(made: CuptiClock) -> None:
    """A CUPTI that may not trace can answer all calls and record nothing."""
    import torch

    one = torch.zeros(1, device="cuda")
    made.begin()
    with suppress(LaunchedNothing):  # Nothing was recorded of it.
        made.time(lambda: one.add_(1))
        made.end()
        return
    raise Unusable("CUPTI records no kernel of this process", "fictl doctor")
