"""Statistics of a recording: each event's durations, and how evenly the SMs were busy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from fictl.profile.events.recording import Happened, Kernel, Warp


@dataclass(frozen=True)
class EventRow:
    """All events of one name in a kernel, in ns.

    at: median time after the warp's begin. share: of the time of all recorded warps; nested events
    count twice. An instant has no durations.
    """

    name: str
    count: int
    at: float
    median: float | None = None
    p5: float | None = None
    p95: float | None = None
    most: float | None = None
    share: float | None = None


@dataclass(frozen=True)
class SmRow:
    """Busy time of one SM in a kernel, in ns after the kernel's first begin."""

    sm: int
    blocks: int
    begin: float
    end: float


def event_rows(kernel: Kernel) -> list[EventRow]:
    """Rows of a kernel's events, in the order in which a warp reaches them."""
    by_event: dict[tuple[str, bool], list[tuple[Warp, Happened]]] = defaultdict(list)
    for warp in kernel.warps:
        for event in warp.happened:
            by_event[event.name, event.end is None].append((warp, event))
    total = sum(warp.end - warp.begin for warp in kernel.warps)
    rows = [_row(name, both, total) for (name, _), both in by_event.items()]
    return sorted(rows, key=lambda row: row.at)


def _row(name: str, both: Sequence[tuple[Warp, Happened]], total: float) -> EventRow:
    at = quantile(sorted(event.begin - warp.begin for warp, event in both), 0.5)
    lengths = sorted(event.length for _, event in both if event.end is not None)
    if not lengths:
        return EventRow(name, len(both), at)
    return EventRow(
        name,
        len(both),
        at,
        quantile(lengths, 0.5),
        quantile(lengths, 0.05),
        quantile(lengths, 0.95),
        lengths[-1],
        sum(lengths) / total if total else None,
    )


def sm_rows(kernel: Kernel) -> list[SmRow]:
    """Rows of the SMs; none if only some blocks were recorded: an unrecorded block may be the
    first or the last of an SM.
    """
    if not kernel.is_whole:
        return []
    by_sm: dict[int, list[Warp]] = defaultdict(list)
    for warp in kernel.warps:
        by_sm[warp.sm].append(warp)
    return [
        SmRow(
            sm,
            len({warp.block for warp in warps}),
            min(warp.begin for warp in warps) - kernel.begin,
            max(warp.end for warp in warps) - kernel.begin,
        )
        for sm, warps in sorted(by_sm.items())
    ]


def quantile(ordered: Sequence[float], part: float) -> float:
    """Quantile, interpolated linearly between two values."""
    place = part * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
