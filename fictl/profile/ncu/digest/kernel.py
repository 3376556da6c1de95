"""The digest of each kernel of a report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fictl.profile.ncu.digest.accesses import accesses
from fictl.profile.ncu.digest.bound import at_ceiling, bound
from fictl.profile.ncu.digest.grid import lanes, waves
from fictl.profile.ncu.digest.occupancy import occupancy
from fictl.profile.ncu.digest.remark import Remark
from fictl.profile.ncu.digest.stalls import shares, stalls
from fictl.profile.ncu.digest.thresholds import LINE, LINES, MINOR
from fictl.profile.ncu.digest.traffic import traffic
from fictl.profile.ncu.launch import Launch, short_name
from fictl.profile.ncu.rule import Rule
from fictl.profile.ncu.source import Line

Sources = Mapping[str, Sequence[tuple[Line, ...]]]


@dataclass(frozen=True)
class Hot:
    """A line of the source with its share of the kernel's samples, in percent."""

    line: Line
    share: float

    def to_dict(self) -> dict[str, Any]:
        return {**self.line.to_dict(), "share": self.share}


@dataclass(frozen=True)
class Digest:
    """Digest of equal launches, taken from the launch with the median time.

    share: percent of the time of all kernels; a minor kernel has no other content.
    """

    name: str
    launch: Launch
    launches: int
    share: float
    remarks: tuple[Remark, ...]
    lines: tuple[Hot, ...]
    rules: tuple[Rule, ...]

    @property
    def is_minor(self) -> bool:
        return self.share < MINOR

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kernel": self.launch.kernel,
            "grid": self.launch.grid,
            "block": self.launch.block,
            "registers": self.launch.get("launch__registers_per_thread"),
            "launches": self.launches,
            "seconds": self.launch.seconds,
            "share": self.share,
            "stalls": shares(self.launch),
            "bytes": traffic(self.launch),
            "remarks": [remark.to_dict() for remark in self.remarks],
            "lines": [hot.to_dict() for hot in self.lines],
            "rules": [rule.to_dict() for rule in self.rules],
        }


def digests(
    launches: Sequence[Launch], rules: Mapping[str, Sequence[Rule]], sources: Sources
) -> tuple[Digest, ...]:
    """Make one digest for each kernel, grid and block, sorted by share of the time."""
    alike: defaultdict[object, list[Launch]] = defaultdict(list)
    for launch in launches:
        alike[launch.kernel, launch.grid, launch.block].append(launch)
    whole = sum(launch.seconds or 0.0 for launch in launches)
    lines = _by_launch(launches, sources)
    unordered = [_digest(group, whole, rules, lines) for group in alike.values()]
    return tuple(sorted(unordered, key=lambda digest: -digest.share))


def _digest(
    alike: Sequence[Launch],
    whole: float,
    rules: Mapping[str, Sequence[Rule]],
    sources: Mapping[str, Sequence[Line]],
) -> Digest:
    ordered = sorted(alike, key=lambda launch: launch.seconds or 0.0)
    one = ordered[len(ordered) // 2]
    lines = sources.get(one.id, ())
    return Digest(
        name=one.name,
        launch=one,
        launches=len(alike),
        share=100 * sum(launch.seconds or 0.0 for launch in alike) / whole if whole else 100.0,
        remarks=tuple(_remarks(one, lines)),
        lines=_hot(lines),
        rules=tuple(rules.get(one.id, ())),
    )


def _remarks(launch: Launch, lines: Sequence[Line]) -> list[Remark]:
    full = at_ceiling(launch)
    sentences = [
        bound(launch),
        *stalls(launch, full),
        occupancy(launch, full),
        waves(launch),
        *accesses(launch, lines),
        lanes(launch),
    ]
    return [remark for remark in sentences if remark]


def _hot(lines: Sequence[Line]) -> tuple[Hot, ...]:
    whole = sum(line.samples for line in lines)
    shares = (Hot(line, 100 * line.samples / whole) for line in lines[:LINES])
    return tuple(hot for hot in shares if hot.share >= LINE)


def _by_launch(launches: Sequence[Launch], sources: Sources) -> dict[str, Sequence[Line]]:
    """Source lines by launch. The source page identifies launches only by order, and may spell
    kernels another way.
    """
    queues = {function: list(tables) for function, tables in sources.items()}
    short = {short_name(function): function for function in sources}
    by_file: dict[str, Sequence[Line]] = {}
    for launch in launches:
        queue = queues.get(launch.kernel) or queues.get(short.get(short_name(launch.kernel), ""))
        if queue:
            by_file[launch.id] = queue.pop(0) if len(queue) > 1 else queue[0]
    return by_file
