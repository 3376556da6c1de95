"""Recordings of ranks whose work we make up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from fictl.profile.cupti.summarise import summarise
from fictl.profile.cupti.work import Kernel, Work
from fictl.profile.ranks.clocks import ClockReading, RankClock
from fictl.profile.ranks.messages import RankRecording

# Of a clock that reads so much more than the host's monotonic one.
EPOCH = 1_795_312_100_000_000_000


def clock(offset: int = EPOCH, begin: int = 0, end: int = 10_000_000) -> RankClock:
    """A clock of the records that is `offset` ns before the host's."""
    readings = (ClockReading(host + offset, host, 100) for host in (begin, end))
    return RankClock(*readings)


def kernel(start: float, end: float, call: int = 0, offset: int = EPOCH) -> Kernel:
    """A kernel from `start` to `end`, in microseconds of the host's clock."""
    times = (round(start * 1000) + offset, round(end * 1000) + offset)
    launch = {"grid": (132, 1, 1), "block": (256, 1, 1), "cluster": (0, 0, 0)}
    needs = {"registers": 32, "static_shared": 0, "dynamic_shared": 0}
    place = {"correlation": call + 1, "device": 0, "stream": 7, "graph": 0}
    return Kernel("sum", *times, call, **place, **launch, **needs)


@pytest.fixture
def recording() -> Callable[..., RankRecording]:
    """Return the recording of a rank: one kernel for each call, from and to so many microseconds."""

    def make(
        *calls: tuple[float, float], its: RankClock | None = None, offset: int = EPOCH
    ) -> RankRecording:
        work: Sequence[Work] = [kernel(*span, call, offset) for call, span in enumerate(calls)]
        summary = summarise("sum-8-float32", work, [], lambda index: None)
        return RankRecording(summary, its or clock(offset), kernels=(*work,))  # type: ignore[arg-type]

    return make
