"""One clock for the records of all ranks.

CUPTI gives the times of a GPU by a clock of the host, and all ranks are processes of one host: their
records have one clock then, whatever the GPU. This is measured, not believed: each rank reads that
clock beside the monotonic one, which all processes share, before and after its recording.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fictl.errors import FictlError

_TRIES = 64
# Clocks that differ by less are one: readings are between two others that are about as far apart.
_ONE_CLOCK_NS = 1000
# Times of a GPU are converted to the host's clock: so far outside of its recording none can be.
_SLACK_NS = 1_000_000


@dataclass(frozen=True)
class ClockReading:
    """Nanoseconds of the recorder's clock and of the host's, read within so many of each other."""

    own: int
    host: int
    within: int

    @property
    def offset(self) -> int:
        return self.own - self.host


@dataclass(frozen=True)
class RankClock:
    """The readings of a rank before and after its recording."""

    begin: ClockReading
    end: ClockReading

    @property
    def within(self) -> int:
        return max(self.begin.within, self.end.within)

    def on_host(self, own: int) -> int:
        """Convert a time of the records to the host's clock."""
        length = self.end.own - self.begin.own
        share = (own - self.begin.own) / length if length else 0.0
        return own - self.begin.offset - round((self.end.offset - self.begin.offset) * share)


@dataclass(frozen=True)
class CommonClock:
    """The clock of all ranks. moved: nanoseconds that records of a rank are moved by, at most.

    within: nanoseconds by which times of two ranks may be off.
    """

    ranks: tuple[RankClock, ...]
    within: int
    moved: int

    def time(self, rank: int, own: int) -> int:
        """Return the time of a rank's record by the first rank's clock."""
        if not self.moved:
            return own
        return self.ranks[rank].on_host(own) + self.ranks[0].begin.offset


def read_clock(now: Callable[[], int]) -> ClockReading:
    """Read a clock beside the host's monotonic one, as closely as some tries allow."""
    readings = []
    for _ in range(_TRIES):
        before = time.monotonic_ns()
        own = now()
        after = time.monotonic_ns()
        readings.append(ClockReading(own, (before + after) // 2, (after - before + 1) // 2))
    return min(readings, key=lambda reading: reading.within)


def common_clock(ranks: Sequence[RankClock]) -> CommonClock:
    """Compare the ranks' clocks; raise FictlError where their times have no common one."""
    for rank, clock in enumerate(ranks):
        if clock.end.own < clock.begin.own or clock.end.host < clock.begin.host:
            back = min(clock.end.own - clock.begin.own, clock.end.host - clock.begin.host)
            raise FictlError(
                f"rank {rank}: its clock went back by {-back / 1e3:.1f} us during the recording",
                "a clock that is being set, as after a suspend, settles: profile again",
            )
    if max(clock.begin.host for clock in ranks) > min(clock.end.host for clock in ranks):
        raise FictlError(
            "the ranks recorded at different times by the host's clock, which is one for all of them",
            "ranks of one host alone have one timeline: start them on one",
        )
    within = 2 * max(clock.within for clock in ranks)
    first = ranks[0]
    apart = max(
        abs(ours.offset - its.offset)
        for clock in ranks
        for ours, its in ((clock.begin, first.begin), (clock.end, first.end))
    )
    return CommonClock(tuple(ranks), within, apart if apart > within + _ONE_CLOCK_NS else 0)


def require_inside(rank: int, clock: RankClock, times: Sequence[tuple[int, int]]) -> None:
    """Raise FictlError if work has times outside of its recording: they are of another clock."""
    for start, end in times:
        early, late = clock.begin.own - start, end - clock.end.own
        if max(early, late) > _SLACK_NS or end < start:
            what = "ends before it starts" if end < start else "is outside of its recording"
            raise FictlError(
                f"rank {rank}: work at {start} to {end} ns {what}, which was from "
                f"{clock.begin.own} to {clock.end.own} ns",
                "the records are by another clock than the driver says: fictl doctor shows its "
                "version and CUPTI's",
            )
