"""RanksProfile: the result of `fictl profile OP --gpus N`, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from fictl.profile.cupti.summary import CuptiSummary
from fictl.profile.ranks.clocks import CommonClock
from fictl.profile.ranks.statistics import RankCall, RankRow
from fictl.quantity import spell_time

CUPTI, HOST = "cupti", "host"
# Waits and starts below this are noise of the records, and nobody is named for them.
_NOISE_SECONDS = 0.5e-6


@dataclass(frozen=True)
class RanksProfile:
    """A case recorded on all of its ranks.

    recorder: cupti, or host on the emulated device. gpus: the chosen ones, with their link.
    """

    name: str
    recorder: str
    gpus: str
    calls: Mapping[int, RankCall]
    rows: tuple[RankRow, ...]
    summaries: tuple[CuptiSummary, ...]
    clock: CommonClock
    trace: str

    @property
    def seconds(self) -> tuple[float, ...]:
        """Return the slowest rank's time of each call, as `fictl bench --gpus` counts it."""
        return tuple(call.length(call.slowest) / 1e9 for call in self.calls.values())

    @property
    def slowest(self) -> int:
        """Return the rank that was the slowest in most calls."""
        return max(self.rows, key=lambda row: row.slowest).rank

    @property
    def latest(self) -> int:
        """Return the rank that started last in most calls."""
        return max(self.rows, key=lambda row: row.latest).rank

    @property
    def unordered(self) -> int:
        """Return the number of calls in which a rank ended before another one had started."""
        return sum(not call.is_ordered for call in self.calls.values())

    def remarks(self) -> Iterator[str]:
        seconds, calls = self.seconds, len(self.calls)
        least, most = spell_time(min(seconds)), spell_time(max(seconds))
        yield (
            f"a call: {spell_time(median(seconds))} on the slowest rank "
            f"({least} to {most} in {calls})"
        )
        yield from self._late()
        if self.unordered:
            yield (
                f"in {self.unordered} of {calls} calls a rank ended before another one had "
                "started: it need not wait for that one, as the first rank of a broadcast"
            )
        yield self._clocks()

    def _late(self) -> Iterator[str]:
        """Name a rank that starts last in most calls, if others wait for it."""
        late = self.latest
        calls = [call for call in self.calls.values() if call.latest == late]
        if 2 * len(calls) <= len(self.calls):
            return
        skew = median(call.skew(late) for call in calls) / 1e9
        waits = median(max(map(call.wait, range(len(self.rows)))) for call in calls) / 1e9
        if max(skew, waits) >= _NOISE_SECONDS:
            yield (
                f"rank {late} starts last in {len(calls)} of {len(self.calls)} calls, "
                f"{spell_time(skew)} after the first; the others wait up to {spell_time(waits)}"
            )

    def _clocks(self) -> str:
        within = f"to {spell_time(self.clock.within / 1e9)}"
        if self.clock.moved:
            moved = spell_time(self.clock.moved / 1e9)
            return f"clocks: they differ, by up to {moved}; times are by that of rank 0, {within}"
        return f"clocks: one for all ranks, {within}"

    def to_dict(self) -> dict[str, Any]:
        seconds = self.seconds
        return {
            "tool": "ranks",
            "recorder": self.recorder,
            "name": self.name,
            "gpus": self.gpus,
            "calls": len(self.calls),
            "seconds": [*seconds],
            "median": median(seconds),
            "slowest": self.slowest,
            "starts_last": self.latest,
            "unordered_calls": self.unordered,
            "clock": {
                "is_one": not self.clock.moved,
                "within": self.clock.within / 1e9,
                "moved": self.clock.moved / 1e9,
            },
            "ranks": [
                {**row.to_dict(), "summary": summary.to_dict()}
                for row, summary in zip(self.rows, self.summaries, strict=True)
            ],
            "kernels": [*_of_ranks(self.summaries, "kernels")],
            "copies": [*_of_ranks(self.summaries, "copies")],
            "trace": self.trace,
        }


def _of_ranks(summaries: Sequence[CuptiSummary], part: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of all ranks, which `fictl profile-diff` pairs by name."""
    for rank, summary in enumerate(summaries):
        for row in getattr(summary, part):
            yield {**row.to_dict(), "name": f"rank {rank}: {row.name}"}
