"""The trace file of several ranks: a process for each, with its host, its calls and its streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from fictl.profile.chrome_trace import ChromeTrace
from fictl.profile.cupti.timeline import arrows, gpu_tracks, host_tracks
from fictl.profile.cupti.work import ApiCall, Work
from fictl.profile.ranks.clocks import CommonClock
from fictl.profile.ranks.messages import RankRecording
from fictl.profile.ranks.statistics import RankCall
from fictl.timing.activity import Activity

One = TypeVar("One", bound=Activity)

# Some viewers show no process 0.
_FIRST_PROCESS = 1
# Behind all streams.
_FIRST_THREAD = 1 << 20


def save(
    name: str,
    recordings: Sequence[RankRecording],
    gpus: Sequence[str],
    calls: Mapping[int, RankCall],
    clock: CommonClock,
    path: Path,
) -> None:
    ranks = [
        (_moved(one.work, rank, clock), _moved(one.api, rank, clock))
        for rank, one in enumerate(recordings)
    ]
    base = min((entry.start for work, api in ranks for entry in (*work, *api)), default=0)
    trace = ChromeTrace(base, {"name": name, "by": "fictl profile", "ranks": len(recordings)})
    drawn = 0
    for rank, (work, api) in enumerate(ranks):
        name_and_gpu = ": ".join(filter(None, (f"rank {rank}", gpus[rank])))
        trace.process(_FIRST_PROCESS + rank, name_and_gpu)
        facts = {number: _facts(rank, call) for number, call in calls.items()}
        _add(trace, _FIRST_PROCESS + rank, work, api, facts, drawn)
        drawn += 1 + max((entry.correlation for entry in work), default=0)
    trace.save(path)


def _moved(records: Sequence[One], rank: int, clock: CommonClock) -> list[One]:
    """Return the records by the common clock."""
    return [
        replace(one, start=clock.time(rank, one.start), end=clock.time(rank, one.end))
        for one in records
    ]


def _facts(rank: int, call: RankCall) -> dict[str, object]:
    """Return facts of a rank's call, for the viewer."""
    return {
        "us after the first rank": call.skew(rank) / 1e3,
        "us of waiting": call.wait(rank) / 1e3,
        "slowest rank": call.slowest,
    }


def _add(
    trace: ChromeTrace,
    process: int,
    work: Sequence[Work],
    api: Sequence[ApiCall],
    facts: Mapping[int, Mapping[str, object]],
    drawn: int,
) -> None:
    """Add a rank; `drawn` is the number of arrows before it."""
    gpu_tracks(trace, process, work, lambda call: facts.get(call, {}))
    host = host_tracks(trace, process, _FIRST_THREAD, api)
    arrows(trace, work, api, host, lambda entry: (process, entry.stream), drawn)
