"""Times of the ranks in each call: who started late, who waited for it, who was the slowest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from fictl.profile.cupti.work import BETWEEN, Copy, Work
from fictl.profile.ranks.clocks import CommonClock

# Of one call, when its first work began and its last work ended, in nanoseconds.
Span = tuple[int, int]


@dataclass(frozen=True)
class RankRow:
    """A rank over all calls; seconds, one value a call.

    seconds: from the start of its first work to the end of its last. kernels: the sum of its
    kernels' times. skew: its start after that of the earliest rank. waits: what it took longer
    than the rank that started last, which waited for nobody.
    slowest: number of calls in which it took longest. latest: in which it started last.
    """

    rank: int
    gpu: str
    seconds: tuple[float, ...]
    kernels: tuple[float, ...]
    skew: tuple[float, ...]
    waits: tuple[float, ...]
    slowest: int
    latest: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "rank": self.rank,
            "gpu": self.gpu,
            "seconds": [*self.seconds],
            "kernels": [*self.kernels],
            "skew": [*self.skew],
            "wait": [*self.waits],
            "median": median(self.seconds),
            "kernel_time": median(self.kernels),
            "median_skew": median(self.skew),
            "median_wait": median(self.waits),
            "slowest": self.slowest,
            "starts_last": self.latest,
        }


@dataclass(frozen=True)
class RankCall:
    """One call, with a span of each rank by the common clock."""

    spans: tuple[Span, ...]

    @property
    def first(self) -> int:
        """Return when the earliest rank started."""
        return min(start for start, _ in self.spans)

    @property
    def latest(self) -> int:
        """Return the rank that started last."""
        return max(range(len(self.spans)), key=lambda rank: self.spans[rank][0])

    @property
    def slowest(self) -> int:
        """Return the rank that took longest."""
        return max(range(len(self.spans)), key=self.length)

    @property
    def is_ordered(self) -> bool:
        """Tell whether no rank ended before another one had started."""
        return min(end for _, end in self.spans) >= max(start for start, _ in self.spans)

    def length(self, rank: int) -> int:
        start, end = self.spans[rank]
        return end - start

    def skew(self, rank: int) -> int:
        return self.spans[rank][0] - self.first

    def wait(self, rank: int) -> int:
        return max(0, self.length(rank) - self.length(self.latest))


def spans_of(work: Sequence[Work]) -> dict[int, Span]:
    """Return the span of each call by its number, by the clock of the records."""
    spans: dict[int, Span] = {}
    for entry in work:
        if entry.call != BETWEEN:
            start, end = spans.get(entry.call, (entry.start, entry.end))
            spans[entry.call] = min(start, entry.start), max(end, entry.end)
    return spans


def calls_of(ranks: Sequence[Mapping[int, Span]], clock: CommonClock) -> dict[int, RankCall]:
    """Return the calls that all ranks made, by the common clock."""
    numbers = sorted(set.intersection(*({*spans} for spans in ranks)))
    return {
        number: RankCall(
            tuple(
                (clock.time(rank, spans[number][0]), clock.time(rank, spans[number][1]))
                for rank, spans in enumerate(ranks)
            )
        )
        for number in numbers
    }


def row_of(rank: int, gpu: str, calls: Mapping[int, RankCall], work: Sequence[Work]) -> RankRow:
    sums = dict.fromkeys(calls, 0)
    for entry in work:
        if entry.call in sums and not isinstance(entry, Copy):
            sums[entry.call] += entry.end - entry.start
    every = [*calls.values()]
    return RankRow(
        rank,
        gpu,
        tuple(call.length(rank) / 1e9 for call in every),
        tuple(length / 1e9 for length in sums.values()),
        tuple(call.skew(rank) / 1e9 for call in every),
        tuple(call.wait(rank) / 1e9 for call in every),
        sum(call.slowest == rank for call in every),
        sum(call.latest == rank for call in every),
    )
